// The page: the form, and the server that takes what is saved.
import { mount } from "./form.js";

const root = document.querySelector("main");
if (root !== null) {
  mount(root, async (record) => {
    const headers = { "content-type": "application/x-protobuf" };
    const answer = await fetch("samples", { method: "POST", headers, body: record });
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  });
}
