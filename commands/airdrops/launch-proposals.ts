/** The proposals of an airdrop's parts to a multisig: finds those that wait, and proposes the others. */

import { PROPOSED_START_DAYS } from '../../src/api/airdrop-terms.ts'
import type { Proposal } from '../../src/api/proposals.ts'
import { pagesOf } from '../cli/pages.ts'
import type { Session } from '../cli/session.ts'
import { agreedSession } from '../signing/confirm.ts'
import { checkedBuild, type Signing, signingFor, UnexpectedBuild } from '../signing/demand.ts'
import { approverField } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { propose } from '../signing/propose.ts'
import { requireUnsigned } from '../signing/run-act.ts'
import type { ActingVault } from '../signing/wallet.ts'
import { failure, usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'
import { demandsLaunchedAirdrop, type LaunchOptions, launchBody, launchedAirdrop } from './initialize.ts'
import type { LaunchPart } from './parts.ts'

/** Pages of proposals that are read; the API answers the newest first. */
const MOST_PAGES = 100
/** Time before the start of an airdrop from which on a warning says how near it is. */
const NEAR_MS = 24 * 3_600_000

const isOpen = ({ status }: Proposal) => status === 'active' || status === 'approved'

/** Whether nothing has to be proposed for it: its proposal can still be executed, or was. */
export const isProposed = ({ proposal }: Pick<LaunchPart, 'proposal'>): boolean =>
  proposal !== null && (proposal.status === 'executed' || (isOpen(proposal) && proposal.fault === null))

/**
 * Notes the newest proposal of each part, an open one first. Throws a failure for one that waits on other terms, and a
 * usage problem if the same list waits as another airdrop, unless `again`.
 */
export async function findProposals(
  session: Session,
  acting: ActingVault,
  { parts, options, again }: { parts: readonly LaunchPart[]; options: LaunchOptions; again: boolean },
): Promise<void> {
  const byId = new Map(parts.map((part) => [part.record.id, part]))
  const found = new Map<string, Proposal>()
  const { multisig } = acting
  let pages = 0
  for await (const { data } of pagesOf((paging) => session.client.proposals.list({ multisig, ...paging }))) {
    for (const proposal of data) {
      const { resource_type, resource_id: id = '' } = proposal.tracked_resource ?? {}
      if (resource_type !== 'airdrop' || !isOfVault(proposal, acting)) continue
      if (!byId.has(id) && !again && isOpen(proposal)) refuseProposedTwice(proposal, parts)
      const known = found.get(id)
      if (byId.has(id) && (known === undefined || (isOpen(proposal) && !isOpen(known)))) found.set(id, proposal)
    }
    if (++pages === MOST_PAGES) break
  }
  for (const [id, { id: proposal }] of found) {
    const part = byId.get(id)
    if (part === undefined) continue
    part.proposal = (await session.client.proposals.get({ id: proposal })).data
    if (isProposed(part)) await requireTerms(session, part, part.proposal, proposedBody(acting, part, options))
  }
}

const isOfVault = ({ approver }: Proposal, { multisig, vault }: ActingVault) =>
  approver.kind === 'squads' && approver.multisig === multisig && approver.vault === vault

function refuseProposedTwice({ id, transaction }: Proposal, parts: readonly LaunchPart[]): void {
  const bytes = Buffer.from(transaction, 'base64')
  const own = parts.find(({ record }) => bytes.includes(Buffer.from(record.root, 'hex')))
  if (own === undefined) return
  throw usage(
    `the list of airdrop ${own.record.airdrop_count} waits in the proposal ${id} as another airdrop: proposing it again would pay everybody twice`,
    { param: '--again', next: `see \`svc proposals show ${id}\`, or add --again` },
  )
}

const proposedBody = (squads: ActingVault, { record }: Pick<LaunchPart, 'record'>, options: LaunchOptions) => ({
  ...launchBody(options, record),
  ...approverField({ squads }),
})

/** Throws a failure if a proposal that waits is another act than this command proposes. */
async function requireTerms(
  session: Session,
  { record }: LaunchPart,
  { id, status, transaction }: Proposal,
  body: ReturnType<typeof proposedBody>,
): Promise<void> {
  const of = signingFor(session, body.payer, { guard: undefined, cluster: await session.cluster() })
  const demand = await demandsLaunchedAirdrop(of, launchedAirdrop(body, record))
  try {
    await checkedBuild(session, transaction, demand)
  } catch (error) {
    if (!(error instanceof UnexpectedBuild)) throw error
    const end = status === 'approved' ? 'cancel' : 'reject'
    throw failure(
      `the proposal ${id} of airdrop ${record.airdrop_count} is ${status}, and it is not what this command proposes: ${error.message}`,
      { next: `run it on those terms, or stop that one: \`svc proposals ${end} ${id}\`` },
    )
  }
}

/** Proposes one part. Running it again after an interruption proposes nothing twice. */
export async function proposePart(
  session: Session,
  acting: ActingVault,
  { record }: Pick<LaunchPart, 'record'>,
  options: LaunchOptions,
): Promise<Proposal> {
  const { mint, airdrop_count, root } = record
  const body = proposedBody(acting, { record }, options)
  const flags = {
    keypair: options.keypair,
    squads: acting,
    tx_version: undefined,
    guard: options.guard,
    wait: undefined,
    dry_run: false,
    build_only: false,
    force: false,
  }
  const run = {
    what: `Create and fund airdrop ${airdrop_count} of ${mint}, root ${root}`,
    build: async () => requireUnsigned(await session.client.airdrops.create(body)),
    demand: (of: Signing) => demandsLaunchedAirdrop(of, launchedAirdrop(body, record)),
  }
  return (await propose(agreedSession(session), flags, run, acting)).proposal
}

/** Warns of a start that is so near that the approvals may come too late. */
export function warnOfNearStart({ ui, clock }: Pick<Session, 'ui' | 'clock'>, { record, proposal }: LaunchPart): void {
  if (proposal === null || !isOpen(proposal) || proposal.expires_at === null) return
  const left = Date.parse(proposal.expires_at) - clock.now()
  if (left <= 0 || left > NEAR_MS) return
  const hours = Math.floor(left / 3_600_000)
  const time = hours === 0 ? 'less than an hour' : counted(hours, 'hour')
  ui.warn(
    `Airdrop ${record.airdrop_count}: ${proposal.id} must be executed before ${timeText(proposal.expires_at)}, in ${time}`,
  )
}

/** Says what became of an earlier proposal that has to be made anew; null without one. */
export function whyAnew({ proposal }: Pick<LaunchPart, 'proposal'>): string | null {
  if (proposal === null || isProposed({ proposal }) || proposal.status === 'planned') return null
  const { id, status, fault } = proposal
  const why = fault === null ? '' : `: ${printable(fault)}`
  return isOpen(proposal) ? `${id} can no longer be executed${why}` : `${id} is ${status}${why}`
}

/** Lines of the preview about the multisig, and until when it must execute what is proposed. */
export const proposalLines = (
  { clock }: Pick<Session, 'clock'>,
  { multisig, vaultIndex, member }: ActingVault,
  starts_at: string | undefined,
): string[] => [
  previewLine('multisig', multisig),
  previewLine('vault', `number ${vaultIndex}: it is the payer, and owns the airdrops`),
  previewLine('member', `${member} proposes, and pays the fee and the rent of the proposals`),
  previewLine('execute', `before ${timeText(starts_at ?? clock.now() + PROPOSED_START_DAYS * 86_400_000)}, the start`),
]

/** What to do next about the proposals of a launch. */
export function proposalNotes(parts: readonly LaunchPart[]): string[] {
  const waiting = parts.filter((part) => !part.isOnChain && part.proposal !== null && isOpen(part.proposal))
  if (waiting.length === 0) return []
  return [
    ...waiting.map(({ record, proposal }) => {
      const { id = '', status, needed, decisions = [], expires_at } = proposal ?? {}
      const approved = decisions.filter(({ decision }) => decision === 'approved').length
      const until = expires_at ? `, before ${timeText(expires_at)}` : ''
      return status === 'approved'
        ? `Airdrop ${record.airdrop_count} waits for its execution${until}: \`svc proposals execute ${id}\``
        : `Airdrop ${record.airdrop_count} waits for approvals, ${approved} of ${needed}${until}: \`svc proposals approve ${id}\``
    }),
    'The same command shows what still waits, and proposes anew what was rejected or came too late.',
  ]
}
