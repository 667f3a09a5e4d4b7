/**
 * Stores the allowlist of a raise, and opens the raise to it: root and URL of the proofs, on chain in one transaction. A
 * root on chain stays valid, so a later list can only add wallets and raise caps.
 */
import type { z } from '@hono/zod-openapi'
import type { Api } from '../../api/index.ts'
import { type RaiseAllowlist, raises } from '../../api/raises.ts'
import * as presale from '../../chain/programs/presale/index.ts'
import { sdkInstructions } from '../../chain/programs/sdk-instruction.ts'
import { rentFor } from '../../chain/reads/rpc-reads.ts'
import { compileUnsigned } from '../../chain/sending/unsigned.ts'
import type { Context, Services } from '../../context.ts'
import { type AllowlistSummary, capFault, firstLost, PROOFS_URL_RULE, proofsUrl } from '../../merkle/allowlist.ts'
import type { BuiltAllowlist } from '../../merkle/built-tree.ts'
import { toHex } from '../../merkle/tree.ts'
import { badRequest, forbidden, Overtaken } from '../../platform/errors.ts'
import { printable } from '../../platform/printable.ts'
import { publicRoot } from '../../settings/config.ts'
import { isoSeconds } from '../../solana/lock-schedule.ts'
import { PRESALE, SERVER_METADATA_BYTES } from '../../solana/programs/presale.ts'
import type { PlainInstruction } from '../../solana/programs/table.ts'
import {
  type AllowlistRow,
  allowlistsOf,
  deleteAllowlist,
  insertAllowlist,
  readEntries,
} from '../../store/resources/raise-allowlists.ts'
import { act } from '../act.ts'
import { fault } from '../locks/checks.ts'
import { hashBytesOf } from '../merkle-trees/open-tree.ts'
import { throwingTreeFaults } from '../merkle-trees/verbs.ts'
import { fieldFault, type Said, warned } from '../sentences.ts'
import { onRaise, requireCreator, requireRaise } from './require-raise.ts'

const { body } = raises.storeAllowlist
if (body === undefined) throw new Error('the route that stores allowlists has no body')
/** The schema of all fields except the entries, which the worker has validated. */
export const allowlistFields = body.omit({ entries: true })
export type AllowlistInput = z.output<typeof allowlistFields> & { id: string; built: BuiltAllowlist }

/** Validates the entries and builds the tree off the event loop. The bytes are transferred to the worker. */
export const allowlistFromBody = ({ trees }: Services, raw: Uint8Array<ArrayBuffer>): Promise<BuiltAllowlist> =>
  throwingTreeFaults(() => trees.buildAllowlist(raw))

export async function storeAllowlist(context: Context, { id, built }: AllowlistInput): Promise<RaiseAllowlist> {
  const { store, chain, clock } = context
  const { root, pieces, summary } = built
  const { raise } = await requireRaise(context, id)
  requireListed(raise)
  requireUsableCaps(raise, summary)
  const total = summary.rounds.reduce((sum, round) => sum + round.total, 0n)
  const answer: RaiseAllowlist = {
    ...{ id, root, entries: built.count, total: String(total) },
    ...warned([...built.warnings, ...salesWarnings(raise, summary, total)]),
  }
  const lists = await allowlistsOf(store.db, id)
  if (lists[0]?.root === root) {
    context.status = 200
    return answer
  }
  const opening = await presale.readOpening(chain, id)
  const version = requireVersion(opening, root, id)
  const open = lists.filter((list) => opening.roots[list.version] === list.root)
  const [last] = open
  const entries = Buffer.concat(pieces.map((piece) => piece.entries))
  if (last !== undefined) requireAll(last, await readEntries(store.db, last), entries)
  return context.commit(async (tx) => {
    const present = await allowlistsOf(tx, id)
    if (present[0]?.root !== lists[0]?.root) {
      const other = `Another request stored an allowlist of the raise ${id} at the same time`
      throw new Overtaken(`${other}: send this request again`, { param: 'id' })
    }
    for (const list of present) {
      requireOwner(context, list)
      if (!open.some((each) => each.version === list.version)) await deleteAllowlist(tx, list)
    }
    if (!open.some((list) => list.version === version)) {
      const { apiKeyId } = context.actor
      const about = { entries: built.count, total: String(total), created_by: apiKeyId, created_at: clock.now() }
      await insertAllowlist(tx, { raise_id: id, version, root, ...about }, pieces)
    }
    return answer
  })
}

/** The version of a root, or the first that is free for it. Throws bad_request if none is. */
function requireVersion(opening: presale.RaiseOpening, root: string, id: string): number {
  const version = presale.versionFor(opening, root)
  if (version >= 0) return version
  throw badRequest(`The raise ${id} has ${opening.roots.length} roots on chain, the most that svc uses`)
}

/** Throws bad_request for a raise without an allowlist by proofs. */
function requireListed({ address, allowlist }: presale.Raise): void {
  if (allowlist === 'merkle') return
  const why = allowlist === 'none' ? 'is open to everyone' : 'lets an operator sign for each buyer'
  const message = `The raise ${address} ${why}, so it takes no allowlist: that is decided when it is created`
  throw fault('id', message, { allowlist })
}

/** Throws bad_request for entries that the program would refuse. */
function requireUsableCaps({ rounds }: presale.Raise, summary: AllowlistSummary): void {
  const found = capFault(summary, rounds)
  if (found !== null) throw fieldFault(`entries: ${found.message}`, { round: found.round })
}

function salesWarnings({ rounds, minimum }: presale.Raise, summary: AllowlistSummary, total: bigint): Said[] {
  const empty = rounds.flatMap((_, i) => (summary.rounds.some(({ round }) => round === i + 1) ? [] : [i + 1]))
  return [
    total < minimum &&
      `all caps add up to ${total} raw units, less than the minimum ${minimum}: the raise must fail with this list`,
    ...empty.map((round) => `nobody is in round ${round}, so its tokens cannot be sold`),
  ]
}

/** Throws bad_request if a wallet would lose something, because the root on chain still lets it buy. */
function requireAll({ raise_id, root, version }: AllowlistRow, before: Buffer, after: Buffer): void {
  const lost = firstLost(before, after)
  if (lost === undefined) return
  const { wallet, round, cap } = lost
  throw fieldFault(
    `entries: ${wallet} has the cap ${cap} in round ${round} of the list whose root is on chain. That root stays valid, so another list of the raise ${raise_id} can add wallets and raise caps, but not remove or lower them`,
    { root, version, wallet, round, cap: String(cap) },
  )
}

/** Throws forbidden for a list of another key, because the opening of the raise would write another root. */
function requireOwner({ actor }: Context, { raise_id, created_by }: AllowlistRow): void {
  const { apiKeyId, scopes } = actor
  if (created_by === apiKeyId || scopes.includes('airdrop:admin') || scopes.includes('*')) return
  throw forbidden(
    `The allowlist of the raise ${raise_id} was stored by another API key: only that key, or one with airdrop:admin or *, replaces it or adds to it`,
    { param: 'id' },
  )
}

export const openRaise = act<Api['raises']['open']>('raise.open', async (context, { id, payer, ...asked }) => {
  const { chain } = context
  const { raise, at } = await requireRaise(context, id)
  requireCreator(raise, payer, 'open')
  requireListed(raise)
  if (BigInt(at.unixSeconds) >= raise.endsAt)
    throw badRequest(`The raise ${id} ended on ${isoSeconds(raise.endsAt)}, so nobody can deposit any more`)
  const opening = await presale.readOpening(chain, id)
  const root = asked.root === undefined ? await storedRoot(context, id) : toHex(hashBytesOf(asked.root))
  const version = requireVersion(opening, root, id)
  const url = urlFor(context, asked.url, opening)
  const shown = shownUrl(url)
  const isRootThere = opening.roots[version] === root
  const isUrlThere = opening.url === url
  if (isRootThere && isUrlThere)
    throw fault('id', `The raise ${id} is open already, with the root ${root} and proofs at ${shown}`, {
      ...{ reason: 'already_open', root, root_version: version, url: shown },
    })
  const metadata = presale.serverMetadataAddress(id)
  const config = presale.merkleRootAddress(id, BigInt(version))
  const acts: PlainInstruction[] = []
  let rent = 0n
  if (!isRootThere) {
    acts.push(
      presale.rootInstruction(id, { creator: payer, config, root: hashBytesOf(root), version: BigInt(version) }),
    )
    rent += await rentFor(chain, PRESALE.sizeOf('merkle_root_config'))
  }
  if (!isUrlThere) {
    if (opening.url !== null) acts.push(presale.closeServerMetadataInstruction(id, { creator: payer, metadata }))
    acts.push(presale.serverMetadataInstruction(id, { creator: payer, metadata, url }))
    rent += await rentFor(chain, SERVER_METADATA_BYTES + url.length)
  }
  return {
    ...onRaise(id),
    fallbackUnits: presale.RAISE_UNITS.root + 2 * presale.RAISE_UNITS.serverMetadata,
    about: `${id}, to the list with the root ${root}, with proofs at ${shown}`,
    build: async (envelope) => compileUnsigned(envelope, acts.map(await sdkInstructions())),
    summary: {
      ...{ id, root, root_version: version, url: isUrlThere ? null : url },
      rent: String(rent),
      ...warned(warningsOf(opening, { version, url })),
    },
  }
})

/** What others wrote on chain may be long, and have characters that cannot be seen. */
const shownUrl = (url: string): string => printable(url.slice(0, MOST_URL_SHOWN))
const MOST_URL_SHOWN = 256

async function storedRoot({ store }: Context, id: string): Promise<string> {
  const [list] = await allowlistsOf(store.db, id)
  if (list !== undefined) return list.root
  throw fault(
    'root',
    `No allowlist of the raise ${id} is stored here: store it (POST /v2/raises/{id}/allowlist, \`svc raises open --allowlist\`), or send the root of a list that is kept elsewhere`,
  )
}

/** The URL that is asked for, otherwise the one on chain, otherwise that of this server. */
function urlFor({ config }: Context, asked: string | undefined, { url: written }: presale.RaiseOpening): string {
  if (asked === undefined && written !== null) return written
  const root = publicRoot(config)
  const text = asked ?? (root === undefined ? undefined : `${root}/raise`)
  if (text === undefined)
    throw fault(
      'url',
      'url is required, because this server has no public address (public-url): name the place of the proofs, without the id of the raise',
    )
  const url = proofsUrl(text)
  if (url === null) throw fault('url', `url ${PROOFS_URL_RULE}`)
  return url
}

function warningsOf(
  { roots, url: written }: presale.RaiseOpening,
  { version, url }: { version: number; url: string },
): Said[] {
  const others = roots.flatMap((root, i) => (root === null || i === version ? [] : [i]))
  return [
    others.length > 0 &&
      `other roots are on chain too (version ${others.join(', ')}), and their wallets can buy as well`,
    written !== null && written !== url && `the URL on chain is replaced: ${shownUrl(written)}`,
  ]
}
