/** Changes the metadata of a token, unsigned or signed by the platform wallet. */
import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import {
  buildMetadataUpdate,
  decodeTokenState,
  metadataAddressOf,
  metadataGrowth,
  type OnChainMetadata,
  type OnChainToken,
  TEXT_LIMITS,
} from '../../chain/programs/tokens/index.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import { plainText } from '../../solana/decision-texts.ts'
import { metadataExtension } from '../../solana/token-extensions.ts'
import { requireOwner, requireOwnPointer, revocationEvents } from './authorities.ts'
import { tokenAct } from './token-act.ts'

type UpdateRoute = Api['tokens']['updateMetadata']
type UpdateInput = Input<UpdateRoute>

/** More than the most expensive update takes: a rewritten mint for each field. */
const UPDATE_UNITS = 60_000
/** A mint of the length of a multisig gets the type of an empty extension, so that it is not read as one. */
const MULTISIG_BYTES = 355
const TYPE_BYTES = 2

export const updateMetadata: typeof updateFor = async (context, input) => {
  if (input.mode === 'signed' && input.immutable) {
    const message = 'The platform wallet cannot make metadata immutable: build it with mode unsigned'
    throw badRequest(message, { param: 'immutable' })
  }
  return updateFor(context, input)
}

/** Throws bad_request for immutable metadata, for a payer that is not its authority, and for fields that it cannot have. */
const updateFor = tokenAct<UpdateRoute>('token.update', async (context, input) => {
  const { mint, payer, fields, remove_fields: removed, immutable } = input
  const [account = null, metaplex = null] = await accountsAt(context.chain, [mint, metadataAddressOf(mint)])
  const token = await decodeTokenState(mint, account, metaplex)
  if (token === null || account === null) throw notFound(`There is no token mint at ${mint}`, { param: 'mint' })
  const metadata = requireChangeable(token)
  requireOwner(token, 'metadata', { payer, verb: 'change' })
  if (immutable) requireOwnPointer(token, payer)
  const texts = textsOf(input)
  const growth = growthOf(account.data, metadata, { texts, fields, removed })
  if (!immutable) requireChange(metadata, growth.present, { texts, fields, removed })
  const bytes = growth.bytes === 0 ? null : account.data.length + growth.bytes
  let topUp = 0n
  const { name, symbol, uri } = { ...metadata, ...texts }
  return {
    fallbackUnits: UPDATE_UNITS,
    ...(bytes === null ? {} : { createdBytes: bytes === MULTISIG_BYTES ? bytes + TYPE_BYTES : bytes }),
    build: ({ rent, ...envelope }) => {
      topUp = rent === undefined || rent <= account.lamports ? 0n : rent - account.lamports
      const change = { mint, token, texts, fields, removed, immutable, topUp, metaplex }
      return buildMetadataUpdate({ ...envelope, ...change })
    },
    summary: () => ({
      mint,
      authority: payer,
      source: metadata.source,
      metadata: { name, symbol, uri },
      is_mutable: !immutable,
      rent_lamports: String(topUp),
    }),
    about: plainText(`${mint}, ${changeText(texts, fields, removed)}`, MOST_ABOUT),
    events: immutable ? revocationEvents(token, 'metadata') : [],
  }
})

/** Leaves room for what the movement shows. */
const MOST_ABOUT = 320

function changeText(texts: object, fields: UpdateInput['fields'], removed: readonly string[]): string {
  const set = [...Object.entries(texts), ...fields.map(({ key, value }) => [key, value] as const)]
  return [...set.map(([key, text]) => `${key} ${JSON.stringify(text)}`), ...removed.map((key) => `no ${key}`)].join(
    ', ',
  )
}

function requireChangeable({ mint, metadata, metadataElsewhere }: OnChainToken): OnChainMetadata {
  if (metadata === null) {
    const message =
      metadataElsewhere === null
        ? `The token ${mint} has no metadata`
        : `The metadata of ${mint} is in the account ${metadataElsewhere}, which svc cannot change`
    throw badRequest(message, { param: 'mint' })
  }
  if (metadata.isMutable) return metadata
  throw badRequest(`The metadata of ${mint} is immutable: nobody can change it`, { param: 'mint' })
}

function textsOf(input: UpdateInput) {
  const texts: Partial<Record<keyof typeof TEXT_LIMITS, string>> = {}
  for (const param of ['name', 'symbol', 'uri'] as const) {
    const text = input[param]
    if (text === undefined) continue
    const [bytes, limit] = [Buffer.byteLength(text), TEXT_LIMITS[param]]
    if (bytes > limit) throw badRequest(`${param} takes ${bytes} bytes as UTF-8, at most ${limit} fit`, { param })
    texts[param] = text
  }
  return texts
}

/** Throws bad_request if all of it is so already. */
function requireChange(
  metadata: OnChainMetadata,
  present: ReadonlyMap<string, string>,
  { texts, fields, removed }: Parameters<typeof metadataGrowth>[2],
): void {
  const asked = Object.keys(texts) as (keyof typeof texts)[]
  const isSame = asked.every((each) => texts[each] === metadata[each])
  if (!isSame || removed.length > 0 || fields.some(({ key, value }) => present.get(key) !== value)) return
  const param = asked[0] ?? 'fields'
  throw badRequest(`${param}: the metadata has this already`, { param, details: { reason: 'no_change' } })
}

/** Metaplex's account has a fixed size, and no additional fields. */
function growthOf(
  data: Uint8Array,
  metadata: OnChainMetadata,
  change: Parameters<typeof metadataGrowth>[2],
): { present: ReadonlyMap<string, string>; bytes: number } {
  if (metadata.source === 'metaplex') {
    const param = change.fields.length > 0 ? 'fields' : 'remove_fields'
    if (change.fields.length + change.removed.length === 0) return { present: new Map(), bytes: 0 }
    throw badRequest(`${param}: metadata of Metaplex has no additional fields, only that in a Token-2022 mint`, {
      param,
    })
  }
  const extension = metadataExtension(data)
  if (extension === null) throw new Error('the metadata was read before')
  const { present, bytes } = metadataGrowth(extension, metadata, change)
  const missing = change.removed.find((key) => !present.has(key))
  if (missing !== undefined)
    throw badRequest(`remove_fields: the metadata has no field ${missing}`, { param: 'remove_fields' })
  return { present, bytes }
}
