import express from "express";
import type { Item } from "./gen/item_pb.js";

const SYMBOLS: Record<string, string> = { EUR: "€", USD: "$" };

express().get("/", (request: { item: Item }, response: { send(text: string): void }) => {
  const { item } = request;
  switch (item.currency) {
    case "EUR":
      response.send("euro");
      break;
    default:
      response.send(`another currency: ${item.currency}`);
  }
  response.send(SYMBOLS[item.currency] ?? item.size.toString());
  console.log(["EUR", "USD"].includes(item.currency));
});
