"""TensorRT's options from a contract: goldens, as no GPU runs them here; devices by stand-ins of NVIDIA's libraries."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acme.inference.v1.model_service_contract import ENTITY_MODEL_INPUT
from protocontract.contract import Contract
from protocontract.models import tensorrt
from protocontract.models.devices import device_facts
from protocontract.models.tensorrt import BatchSizes, cache_folder, profiles, warm_up
from protocontract.violations import ContractError
from tests.models.support import contracts, line_of

Zoo = Mapping[str, Contract[Any]]
SHA = "ab" * 32


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    return contracts(tmp_path_factory.mktemp("zoo"))


def test_the_options_of_the_entity_model() -> None:
    found = tensorrt.provider(
        ENTITY_MODEL_INPUT, BatchSizes(32, (1, 8, 32)), Path("/cache"), model_sha256=SHA, tensorrt="10.3.0",
        compute_capability="9.0", options={"trt_fp16_enable": "1", "trt_engine_cache_enable": "0"},
        elsewhere={"cuda": ("NonZero",)},
    )  # fmt: skip
    shapes = ",".join(f"input_ids:{rows}x256,attention_mask:{rows}x256" for rows in (1, 8, 32))
    folder = found.options["trt_engine_cache_path"]
    assert folder.startswith(f"/cache/{SHA[:32]}-trt10.3.0-sm90-")
    assert found.options == {
        "trt_fp16_enable": "1",
        "trt_profile_min_shapes": shapes,
        "trt_profile_opt_shapes": shapes,
        "trt_profile_max_shapes": shapes,
        "trt_engine_cache_enable": "1",
        "trt_engine_cache_path": folder,
        "trt_timing_cache_enable": "1",
        "trt_timing_cache_path": folder,
    }
    assert found.declared == ("TensorrtExecutionProvider", "CUDAExecutionProvider")


def test_free_axes_run_between_their_bounds(zoo: Zoo) -> None:
    one, two = profiles(zoo["Sentence"], BatchSizes(3, (2, 3)))
    assert one.min == {"ids": (2, 1), "mask": (2, 1)}
    assert one.opt == one.max == {"ids": (2, 512), "mask": (2, 512)}
    assert (two.min["ids"], two.max["mask"]) == ((3, 1), (3, 512))


def test_what_has_no_profile(zoo: Zoo) -> None:
    with pytest.raises(ContractError) as caught:
        profiles(zoo["Unbounded"], BatchSizes(8))
    assert str(caught.value) == (
        "no TensorRT profile: `ids` has the free axis tokens without an upper bound; expected bounds"
        f" (zoo.proto:{line_of('bytes ids = 1')});"
        f" `few` takes 4 rows at most; expected batch.max_size 8 (zoo.proto:{line_of('few = 2')});"
        " `odd:0` has a colon or comma in its name; expected a name without"
        f" (zoo.proto:{line_of('odd = 3')})"
    )


@pytest.mark.parametrize(
    ("max_size", "sizes", "known"),
    [(1, None, (1,)), (8, None, (1, 2, 4, 8)), (12, None, (1, 2, 4, 8, 12)), (12, (12, 4), (4, 12))],
)
def test_batch_sizes(max_size: int, sizes: tuple[int, ...] | None, known: tuple[int, ...]) -> None:
    batches = BatchSizes(max_size, sizes)
    assert batches.sizes == known
    for rows in range(1, max_size + 1):
        assert batches.fit(rows) == min(size for size in known if size >= rows)
    for rows in (0, max_size + 1):
        with pytest.raises(ContractError, match=f"a batch of {rows} rows; expected 1 to {max_size}"):
            batches.fit(rows)


@pytest.mark.parametrize(("max_size", "sizes"), [(0, None), (8, (1, 4)), (8, (0, 8)), (8, (8, 16)), (8, ())])
def test_batch_sizes_that_are_none(max_size: int, sizes: tuple[int, ...] | None) -> None:
    with pytest.raises(ContractError, match=r"batch\.max_size"):
        BatchSizes(max_size, sizes)


def test_batches_are_filled_up_with_a_valid_row() -> None:
    batches = BatchSizes(8, (4, 8))
    given = {"x": np.arange(10).reshape(5, 2), "y": np.arange(5)}
    filled = batches.fill(given, 5)
    assert {name: array.shape for name, array in filled.items()} == {"x": (8, 2), "y": (8,)}
    assert np.array_equal(filled["x"][:5], given["x"])
    assert filled["x"][5:].tolist() == [[8, 9]] * 3
    assert batches.fill(given | {"x": given["x"][:4], "y": given["y"][:4]}, 4)["x"].base is given["x"].base


def test_the_cache_is_of_one_model_version_and_device(tmp_path: Path) -> None:
    one = cache_folder(tmp_path, SHA, "10.3.0", "9.0", {"trt_fp16_enable": "1"})
    others = [
        cache_folder(tmp_path, "cd" * 32, "10.3.0", "9.0", {"trt_fp16_enable": "1"}),
        cache_folder(tmp_path, SHA, "10.4.0", "9.0", {"trt_fp16_enable": "1"}),
        cache_folder(tmp_path, SHA, "10.3.0", "8.6", {"trt_fp16_enable": "1"}),
        cache_folder(tmp_path, SHA, "10.3.0", "9.0", {}),
    ]
    assert len({one, *others}) == 5
    with pytest.raises(ContractError, match="TensorRT version, compute capability not known"):
        cache_folder(tmp_path, SHA, "", "", {})


def test_every_profile_is_warmed_up(zoo: Zoo) -> None:
    found = warm_up(zoo["Sentence"], BatchSizes(2))
    assert [inputs["ids"].shape for inputs in found] == [(1, 1), (1, 512), (2, 1), (2, 512)]
    assert {int(inputs["ids"].min()) for inputs in found} == {5}  # the contract's least
    assert found[0]["mask"].dtype == np.int64
    assert len(warm_up(ENTITY_MODEL_INPUT, BatchSizes(4))) == 3  # the smallest shapes are the largest, too


# -- devices


class Library:
    """Stands for NVIDIA's shared libraries: each function fills what it is given a reference to."""

    def __init__(self, name: str) -> None:
        if name not in {"libcuda.so.1", "libcudart.so.12", "libnvinfer.so.10"}:
            raise OSError(name)

    def cuInit(self, _flags: int) -> int:
        return 0

    def cuDriverGetVersion(self, into: Any) -> int:
        into._obj.value = 12040
        return 0

    cudaRuntimeGetVersion = cuDriverGetVersion

    def cuDeviceGet(self, into: Any, number: int) -> int:
        into._obj.value = number
        return 0 if number < 2 else 101

    def cuDeviceGetName(self, name: Any, _length: int, device: Any) -> int:
        name.value = f"H200 {device.value}".encode()
        return 0

    def cuDeviceGetAttribute(self, into: Any, attribute: int, _device: Any) -> int:
        into._obj.value = {75: 9, 76: 0}[attribute]
        return 0

    def getInferLibVersion(self) -> int:
        return 100300


def test_versions_that_can_be_read(tmp_path: Path) -> None:
    driver = tmp_path / "version"
    driver.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue\nGCC version: 12\n")
    assert device_facts(1, load=Library, driver=driver) == {
        "driver": "NVIDIA UNIX x86_64 Kernel Module 550.54.15 Tue",
        "cuda_driver": "12.4",
        "device": "H200 1",
        "compute_capability": "9.0",
        "cuda_runtime": "12.4",
        "tensorrt": "10.3.0",
    }
    assert "device" not in device_facts(7, load=Library, driver=driver)


def test_where_nothing_is(tmp_path: Path) -> None:
    def load(name: str) -> ctypes.CDLL:
        raise OSError(name)

    assert device_facts(load=load, driver=tmp_path / "none") == {}
