/** Opens a raise to its allowlist: its root and where proofs are, on chain, in one transaction. */
import type { Api } from '../../api/index.ts'
import {
  closeServerMetadataInstruction,
  merkleRootAddress,
  RAISE_UNITS,
  type RaiseOpening,
  readOpening,
  rootInstruction,
  serverMetadataAddress,
  serverMetadataInstruction,
} from '../../chain/programs/presale/index.ts'
import { sdkInstructions } from '../../chain/programs/sdk-instruction.ts'
import { rentFor } from '../../chain/reads/rpc-reads.ts'
import { compileUnsigned } from '../../chain/sending/unsigned.ts'
import type { Context } from '../../context.ts'
import { PROOFS_URL_RULE, proofsUrl } from '../../merkle/allowlist.ts'
import { toHex } from '../../merkle/tree.ts'
import { badRequest } from '../../platform/errors.ts'
import { printable } from '../../platform/printable.ts'
import { publicRoot } from '../../settings/config.ts'
import { isoSeconds } from '../../solana/lock-schedule.ts'
import { MERKLE_ROOT_BYTES, SERVER_METADATA_BYTES } from '../../solana/programs/presale.ts'
import type { PlainInstruction } from '../../solana/programs/table.ts'
import { allowlistsOf } from '../../store/resources/raise-allowlists.ts'
import { act } from '../act.ts'
import { fault } from '../locks/checks.ts'
import { hashBytesOf } from '../merkle-trees/open-tree.ts'
import { type Said, warned } from '../sentences.ts'
import { onRaise, requireCreator, requireRaise } from './require-raise.ts'
import { requireListed, requireVersion } from './store-allowlist.ts'

type Routes = Api['raises']

export const openRaise = act<Routes['open']>('raise.open', async (context, { id, payer, ...asked }) => {
  const { chain } = context
  const { raise, at } = await requireRaise(context, id)
  requireCreator(raise, payer, 'open')
  requireListed(raise)
  if (BigInt(at.unixSeconds) >= raise.endsAt)
    throw badRequest(`The raise ${id} ended on ${isoSeconds(raise.endsAt)}, so nobody can deposit any more`)
  const opening = await readOpening(chain, id)
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
  const metadata = serverMetadataAddress(id)
  const config = merkleRootAddress(id, BigInt(version))
  const acts: PlainInstruction[] = []
  let rent = 0n
  if (!isRootThere) {
    acts.push(rootInstruction(id, { creator: payer, config, root: hashBytesOf(root), version: BigInt(version) }))
    rent += await rentFor(chain, MERKLE_ROOT_BYTES)
  }
  if (!isUrlThere) {
    if (opening.url !== null) acts.push(closeServerMetadataInstruction(id, { creator: payer, metadata }))
    acts.push(serverMetadataInstruction(id, { creator: payer, metadata, url }))
    rent += await rentFor(chain, SERVER_METADATA_BYTES + url.length)
  }
  return {
    ...onRaise(id),
    fallbackUnits: RAISE_UNITS.root + 2 * RAISE_UNITS.serverMetadata,
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
function urlFor({ config }: Context, asked: string | undefined, { url: written }: RaiseOpening): string {
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

function warningsOf({ roots, url: written }: RaiseOpening, { version, url }: { version: number; url: string }): Said[] {
  const others = roots.flatMap((root, i) => (root === null || i === version ? [] : [i]))
  return [
    others.length > 0 &&
      `other roots are on chain too (version ${others.join(', ')}), and their wallets can buy as well`,
    written !== null && written !== url && `the URL on chain is replaced: ${shownUrl(written)}`,
  ]
}
