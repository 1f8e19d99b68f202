import type { Book, Page } from "./gen/page_pb.js";

export const where = (b: Book, p: Page): number => b.pages.indexOf(p);
export const keys = (b: Book): string[] => Object.keys(b.byKey);
export const all = (m: Map<string, Page>): string[] => [...m.keys()];
