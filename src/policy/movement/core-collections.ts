/** Handles collections of Metaplex Core. Their two counters change whenever anyone mints or burns (mpl-core, `CollectionV1`). */

/** First byte of a collection, its `Key`. */
const COLLECTION_KEY = 5
/**
 * The key and the update authority precede the name and the URI, each with its u32 length. The counters follow them.
 */
const TEXTS_OFFSET = 33
const COUNTERS_BYTES = 8

export const isCollection = (data: Uint8Array): boolean => data[0] === COLLECTION_KEY

/**
 * Returns the data without the counters `num_minted` and `current_size`, or null if it is not a collection or is
 * truncated.
 */
export function withoutCounters(data: Uint8Array): Buffer | null {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  if (!isCollection(data)) return null
  let at = TEXTS_OFFSET
  for (let texts = 0; texts < 2; texts++) {
    if (at + 4 > data.length) return null
    at += 4 + view.getUint32(at, true)
  }
  const end = at + COUNTERS_BYTES
  return end <= data.length ? Buffer.concat([data.subarray(0, at), data.subarray(end)]) : null
}
