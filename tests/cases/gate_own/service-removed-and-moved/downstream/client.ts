import { createClient, type Transport } from "@connectrpc/connect";
import { Shop } from "./gen/shop_pb.js";

export async function drop(t: Transport, id: string): Promise<string> {
  return (await createClient(Shop, t).drop({ id })).id;
}
