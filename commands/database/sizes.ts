/** Sizes as people read them. */
const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** A number of bytes with a unit: `740 bytes`, `1.2 MiB`. */
export function sizeText(bytes: number): string {
  let [size, unit] = [bytes, 0]
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024
    unit++
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${UNITS[unit]}`
}
