export const percent = (part: bigint, whole: bigint): bigint => (part * 100n) / whole;
