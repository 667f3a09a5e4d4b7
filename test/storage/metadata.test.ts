/** The metadata that a token's URI leads to: Metaplex' fungible standard, the same bytes for the same token. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cidOf } from '../../src/storage/cid.ts'
import { type MetadataFields, metadataJson } from '../../src/storage/metadata.ts'

const read = (token: MetadataFields) => JSON.parse(new TextDecoder().decode(metadataJson(token)))

const TOKEN: MetadataFields = {
  name: 'My Token',
  symbol: 'MTK',
  description: 'For everyone: ✓',
  imageUri: 'https://api.example.com/assets/bafkreia',
  imageType: 'image/webp',
  website: 'https://example.com/',
  twitter_url: 'https://x.com/mytoken',
  telegram: 'https://t.me/mytoken',
  loot_from: 'a season',
}

describe('the metadata JSON', () => {
  it('follows the fungible standard, with links', () => {
    expect(read(TOKEN)).toEqual({
      name: 'My Token',
      symbol: 'MTK',
      description: 'For everyone: ✓',
      image: 'https://api.example.com/assets/bafkreia',
      external_url: 'https://example.com/',
      extensions: {
        website: 'https://example.com/',
        twitter: 'https://x.com/mytoken',
        telegram: 'https://t.me/mytoken',
        loot_from: 'a season',
      },
      properties: {
        category: 'image',
        files: [{ uri: 'https://api.example.com/assets/bafkreia', type: 'image/webp' }],
      },
    })
  })

  it('has no fields that were not sent', () => {
    const { name, symbol, imageUri, imageType } = TOKEN
    expect(read({ name, symbol, imageUri, imageType, telegram: '', website: undefined })).toEqual({
      name: 'My Token',
      symbol: 'MTK',
      description: '',
      image: imageUri,
      properties: { category: 'image', files: [{ uri: imageUri, type: imageType }] },
    })
  })

  it('has the same identifier for any order of the fields, and another for another text', async () => {
    const turned = Object.fromEntries(Object.entries(TOKEN).reverse()) as unknown as MetadataFields
    expect(await cidOf(metadataJson(turned))).toBe(await cidOf(metadataJson(TOKEN)))
    expect(await cidOf(metadataJson({ ...TOKEN, symbol: 'MTL' }))).not.toBe(await cidOf(metadataJson(TOKEN)))
  })

  it('contains every text unchanged', () => {
    const anyText = fc.string({ unit: 'grapheme', maxLength: 50 })
    fc.assert(
      fc.property(anyText, anyText, (description, loot_from) => {
        const json = read({ ...TOKEN, description, loot_from })
        expect([json.description, json.extensions.loot_from ?? '']).toEqual([description, loot_from])
      }),
    )
  })
})
