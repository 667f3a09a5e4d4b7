/** `svc raises open`: stores the allowlist of a raise, and writes its root and the place of its proofs on chain. */
import { paths } from '../../src/api/paths.ts'
import { allowanceAt, PROOFS_URL_RULE, proofsUrl, repeatedWarnings } from '../../src/merkle/allowlist.ts'
import { toHex } from '../../src/merkle/tree.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { bytesOfHex } from '../../src/solana/bytes.ts'
import { PRESALE, PRESALE_SEEDS } from '../../src/solana/programs/presale.ts'
import { text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { readHash } from '../merkle/built-record.ts'
import { type Call, demanding, type Signing } from '../signing/demand.ts'
import { previewLines } from '../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, runAct } from '../signing/run-act.ts'
import { failure, usage } from '../ui/problem.ts'
import {
  type AllowlistFile,
  allowlistFlags,
  allowlistLines,
  configOf,
  proofFolder,
  readAllowlist,
  writeProofs,
} from './allowlist-file.ts'
import { presaleCall, RAISE_ARG, readProvenRaise } from './proven-raise.ts'

interface Opening {
  id: string
  root: string
  /** Of the answer: which version the root has, and the URL that is written, null if it is there already. */
  root_version: number
  url: string | null
  /** The URL of --url. */
  asked: string | undefined
}

/** The root of the own list, once; and the URL, in place of another one that was there. */
async function opens(of: Signing, { id: presale, root, root_version, url, asked }: Opening): Promise<Call[]> {
  const { payer } = of
  const { deriveAddress } = await import('../../src/solana/program-addresses.ts')
  const { address: metadata } = deriveAddress(PRESALE.id, ...PRESALE_SEEDS.serverMetadata(presale))
  const version = BigInt(root_version)
  const stored = { presale, merkle_root_config: await configOf(presale, root_version), creator: payer, root, version }
  const rootCall: Call = {
    ...presaleCall('create_merkle_root_config', stored, { root: bytesOfHex(root), version }),
    // The root may be there already, if only the URL is new.
    least: url === null ? 1 : 0,
  }
  if (url === null) return [rootCall]
  if (asked === undefined) of.apiSays(`proofs at ${url}`, '--url')
  const server_url = asked ?? url
  const place = { presale, permissioned_server_metadata: metadata, owner: payer }
  return [
    rootCall,
    { ...presaleCall('close_permissioned_server_metadata', { ...place, rent_receiver: payer }), least: 0 },
    presaleCall('create_permissioned_server_metadata', { ...place, server_url }, { server_url }),
  ]
}

const demandsOpening = demanding('this raise is opened to this list, with proofs at this URL', opens)

export const openVerb = verb({
  about: 'Open a raise to the wallets of its allowlist',
  details:
    'FILE has one wallet,cap per line, or with a header wallet,cap,round; rounds count from 1. The list is stored, so that `svc serve` answers proofs at /raise, and --out writes the same answers as files for any static host. Once its root is on chain, a later list can only add wallets and raise caps: the first root stays valid. The creator signs.',
  calls: [paths.raises.open, paths.raises.storeAllowlist, paths.raises.get, ...ACT_CALLS],
  args: { raise: RAISE_ARG },
  flags: {
    allowlist: text('The list, a CSV, or - for standard input', {
      placeholder: 'FILE',
      existing: true,
      conflicts: ['root'],
    }),
    root: text('Root of a list that is kept elsewhere, hex', { placeholder: 'ROOT' }),
    url: text('Where proofs are, without the id of the raise (default: /raise of this server)', { placeholder: 'URL' }),
    out: text('Folder to write with the proofs as files', { placeholder: 'DIR', needs: ['allowlist'] }),
    replace: toggle('Replace the folder of --out if it has proofs', { needs: ['out'] }),
    ...allowlistFlags,
    ...ACT_SIGNING,
  },
  needs: [['allowlist', 'root']],
  examples: [
    'svc raises open GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --allowlist allowlist.csv --decimals 9 --url https://example.com/raise',
    'svc raises open GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --allowlist allowlist.csv --raw --url https://example.com/raise --out public/raise --dry-run',
  ],
  async run({ raise: id, allowlist, root: named, url, out, replace, ...flags }, session) {
    const asked = url === undefined ? undefined : (proofsUrl(url) ?? undefined)
    if (url !== undefined && asked === undefined) throw usage(`--url ${PROOFS_URL_RULE}`, { param: '--url' })
    const folder = out === undefined ? undefined : await proofFolder(out, replace)
    const raise = await readProvenRaise(session, id)
    const list = allowlist === undefined ? null : await readAllowlist(session, allowlist, flags, raise)
    const root = list?.hex ?? toHex(readHash(named ?? '', '--root'))
    if (list !== null) await store(session, id, list, flags.dry_run)
    let version: number | undefined
    const opened = (root_version: number, written: string | null = null) => {
      version = root_version
      return { id, root, root_version, url: written ?? asked ?? null, ...(out === undefined ? {} : { out }) }
    }
    const outcome = await runAct(session, flags, {
      what: `Open the raise ${id} to its allowlist`,
      call: (body, options) =>
        session.client.raises.open({ id, root, ...(asked === undefined ? {} : { url: asked }), ...body }, options),
      demand: (of, { root_version, url: written }) =>
        demandsOpening(of, { id, root, root_version, url: written, asked }),
      preview: ({ url: written, root_version }) => [
        ...previewLines({
          root: `${root} (version ${root_version})`,
          proofs: written === null ? 'where they were before' : (asked ?? written),
        }),
        ...(list === null ? [] : allowlistLines(list, raise)),
      ],
      show: ({ root_version, url: written }) => opened(root_version, written),
    }).catch((error: unknown) => {
      const there = alreadyOpen(error)
      if (there === null) throw error
      session.ui.note(`The raise ${id} is open with this list already`)
      return { data: opened(there) }
    })
    if (folder !== undefined && list !== null && version !== undefined && !flags.dry_run)
      await writeProofs(folder, list, { raise: id, version })
    return outcome
  },
})

/** The version of the root of a raise for which nothing is left to do; null for another error. */
function alreadyOpen(error: unknown): number | null {
  const { reason, root_version } = (error instanceof ApiError && error.details) || {}
  return reason === 'already_open' && Number.isSafeInteger(root_version) ? (root_version as number) : null
}

/** Stores the list, and says what is unusual about it. Throws a failure if the server computed another root. */
async function store({ client, ui }: Session, id: string, list: AllowlistFile, isDry: boolean): Promise<void> {
  if (isDry) {
    for (const warning of repeatedWarnings(list.summary)) ui.warn(warning)
    return
  }
  const entries = Array.from({ length: list.list.count }, (_, i) => {
    const { wallet, round, cap } = allowanceAt(list.list, i)
    return { wallet, cap: String(cap), round }
  })
  const { data } = await client.raises.storeAllowlist({ id, entries })
  if (data.root !== list.hex)
    throw failure(`the server stored the list with root ${data.root}, this command built ${list.hex}`, {
      next: 'the two run different versions; do not open this raise before both agree',
    })
  for (const warning of data.warnings ?? []) ui.warn(warning)
}
