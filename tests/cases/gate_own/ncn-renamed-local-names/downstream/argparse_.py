import argparse

from host_pb2 import Host


def main(host: Host) -> str:
    parser = argparse.ArgumentParser()
    parser.add_argument("--label")
    args = parser.parse_args()
    return args.label + host.addr
