import express from "express";
import type { Item } from "./gen/item_pb.js";

express().get("/", (request: { item: Item }, response: { send(text: string): void }) => {
  const { item } = request;
  response.send(`${item.code} ${item.code.split("-")[1]!.padStart(6)}`);
});
