/** Changes of a token's metadata: name, symbol, URI, the additional fields of Token-2022, and its end as changeable. */
import { z } from '@hono/zod-openapi'
import { address, digits, mintAddress, uri } from './chain-scalars.ts'
import { buildBody } from './envelope.ts'
import { signedPayload, unsignedPayload } from './payloads.ts'
import { defineRoute } from './route.ts'
import { line, tokenName } from './scalars.ts'
import { TOKENS_TAG } from './tokens.ts'

const MOST_FIELDS = 16
const fieldKey = line(64).meta({ example: 'website' })

const updateShape = {
  mint: mintAddress,
  authority: address.meta({ description: 'Holder of the metadata authority, which signs' }),
  source: z.enum(['metaplex', 'extension']).meta({ description: 'Where the metadata is' }),
  metadata: z
    .object({ name: z.string(), symbol: z.string(), uri: z.string() })
    .meta({ description: 'After the change' }),
  is_mutable: z.boolean().meta({ description: 'Whether it can be changed again' }),
  rent_lamports: digits.meta({ description: 'What the mint gets for its growth, from the payer' }),
}

const metadataUpdate = z
  .discriminatedUnion('mode', [unsignedPayload(updateShape), signedPayload(updateShape)])
  .openapi('MetadataUpdate')
export type MetadataUpdate = z.output<typeof metadataUpdate>

export const tokenUpdates = {
  updateMetadata: defineRoute({
    at: ['patch', '/v2/tokens/{mint}'],
    tag: TOKENS_TAG,
    summary: 'Change the metadata of a token',
    description:
      'Only what is sent changes. Additional fields are for metadata in a Token-2022 mint, which grows with them: the payer adds the rent. `immutable: true` makes this the last change. With `mode: signed` the platform wallet signs, whatever `payer` says, if its policy permits; it does not make metadata immutable.',
    params: z.object({ mint: mintAddress }),
    body: buildBody({
      payer: address.meta({ description: 'Wallet that holds the metadata authority and pays' }),
      name: tokenName.optional(),
      symbol: line(10).optional(),
      uri: uri.optional(),
      fields: z
        .array(z.strictObject({ key: fieldKey, value: line(512) }))
        .max(MOST_FIELDS)
        .default([])
        .meta({ description: 'Additional fields to set' }),
      remove_fields: z
        .array(fieldKey)
        .max(MOST_FIELDS)
        .default([])
        .meta({ description: 'Additional fields to remove' }),
      immutable: z.boolean().default(false).meta({ description: 'Nobody can ever change it again' }),
    }).superRefine((body, context) => {
      const refuse = (param: string, message: string) => context.addIssue({ code: 'custom', path: [param], message })
      const { name, symbol, uri: at, fields, remove_fields: removed, immutable } = body
      const isEmpty = [name, symbol, at].every((text) => text === undefined) && fields.length + removed.length === 0
      if (isEmpty && !immutable)
        refuse('name', 'send at least one of name, symbol, uri, fields, remove_fields, immutable')
      const keys = [...fields.map(({ key }) => key), ...removed]
      if (new Set(keys).size !== keys.length) refuse('fields', 'must name each key once, also with remove_fields')
      const own = keys.find((key) => ['name', 'symbol', 'uri'].includes(key))
      if (own !== undefined) refuse('fields', `must not have the key ${own}: send ${own} instead`)
    }),
    example: { symbol: 'NEW' },
    data: metadataUpdate,
    signed: '*',
    payable: 'payer',
    says: ({ mint, immutable }) =>
      `Change the metadata of the token ${mint}${immutable === true ? ' for the last time' : ''}`,
  }),
}
