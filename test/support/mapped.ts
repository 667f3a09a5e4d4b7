/** Makes one value for each item of a tuple, so that each can be given a name. */
export const mapped = <const T extends readonly unknown[], U>(items: T, make: (item: T[number]) => U) =>
  items.map(make) as { -readonly [K in keyof T]: U }
