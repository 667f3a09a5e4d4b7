/** Collections of Metaplex Core, whose two counters change with everything that others mint or burn (mpl-core, `CollectionV1`). */

/** First byte of a collection: its `Key`. */
const COLLECTION_KEY = 5
/** Key and update authority come before the name and the URI, each after its u32 length; the counters follow. */
const TEXTS_OFFSET = 33
const COUNTERS_BYTES = 8

export const isCollection = (data: Uint8Array): boolean => data[0] === COLLECTION_KEY

/** The data without the counters `num_minted` and `current_size`; null where it is no collection, or is cut short. */
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
