/** The JSON that a token's metadata URI leads to, in Metaplex' fungible standard. */

export interface MetadataFields {
  name: string
  symbol: string
  description?: string | undefined
  /** Where the image is served. */
  imageUri: string
  /** Content type of the image. */
  imageType: string
  website?: string | undefined
  twitter_url?: string | undefined
  telegram?: string | undefined
  loot_from?: string | undefined
}

/** UTF-8 bytes of the JSON; the same input is the same bytes, so that it has one content identifier. */
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

/** Without what is undefined or empty, in the order given. */
const withoutAbsent = (fields: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => Boolean(field[1])))
