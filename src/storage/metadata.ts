/** JSON of a token's metadata URI according to Metaplex' fungible standard. */

export interface MetadataFields {
  name: string
  symbol: string
  description?: string | undefined
  /** URI at which the image is served. */
  imageUri: string
  /** Content type of the image. */
  imageType: string
  website?: string | undefined
  twitter_url?: string | undefined
  telegram?: string | undefined
  loot_from?: string | undefined
}

/** Returns the JSON as UTF-8 bytes; equal input gives equal bytes and thus the same content identifier. */
export function metadataJson(token: MetadataFields): Uint8Array {
  const { name, symbol, description = '', imageUri, imageType, website, twitter_url, telegram, loot_from } = token
  const extensions = withoutAbsent({ website, twitter: twitter_url, telegram, loot_from })
  const document = {
    name,
    symbol,
    description,
    image: imageUri,
    ...withoutAbsent({ external_url: website }),
    ...(Object.keys(extensions).length > 0 && { extensions }),
    properties: { category: 'image', files: [{ uri: imageUri, type: imageType }] },
  }
  return new TextEncoder().encode(JSON.stringify(document))
}

/** Omits undefined and empty fields and keeps the order of the others. */
const withoutAbsent = (fields: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => Boolean(field[1])))
