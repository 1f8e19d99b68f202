interface Parcel {
  shipTo: string;
}
export const place = (p: Parcel): string => p.shipTo;
