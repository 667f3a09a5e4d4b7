/** Says which proposals wait: for the caller's wallet as a member or an approver, and otherwise for this installation. */
import type { Proposal } from '../../src/api/proposals.ts'
import { pagesOf } from '../cli/pages.ts'
import type { Session } from '../cli/session.ts'
import { printable } from '../ui/render.ts'
import { counted } from '../ui/words.ts'

/** Most proposals that are named; `svc proposals list` has all. */
const MOST = 10
/** Most pages of 100 that are read of each state: what waits for the wallet may be among the oldest. */
const MOST_PAGES = 5
/** A line of a terminal. */
const COLUMNS = 80
const OPEN = ['active', 'approved'] as const

interface WaitingProposals {
  /** All that were read. */
  ids: ReadonlySet<string>
  /** One line for each of the first, the ones for the wallet first. */
  lines: readonly { id: string; line: string }[]
  /** How many more wait; null if none does. */
  more: string | null
}

/** What waits; nothing if the API may not be asked. */
export async function waitingProposals({
  client,
  wallet,
}: Pick<Session, 'client' | 'wallet'>): Promise<WaitingProposals> {
  const lists = await Promise.all(OPEN.map((status) => readOpen(client, status)))
  const open = lists.flatMap(({ proposals }) => proposals)
  const own = open.length === 0 ? null : await wallet.address().catch(() => null)
  const mine = open.filter((proposal) => own !== null && waitsFor(proposal, own))
  const others = open.filter((proposal) => !mine.includes(proposal))
  const lines = [...mine, ...others]
    .slice(0, MOST)
    .map((each) => ({ id: each.id, line: lineOf(each, mine.includes(each)) }))
  const isCut = lists.some((list) => list.isCut)
  return { ids: new Set(open.map(({ id }) => id)), lines, more: moreText(open.length - MOST, isCut) }
}

function moreText(more: number, isCut: boolean): string | null {
  if (more <= 0) return null
  const count = `${isCut ? 'more than ' : ''}${counted(more, 'more proposal')}`
  return `${count} ${more === 1 ? 'waits' : 'wait'}: svc proposals list`
}

/** The open proposals in a state, newest first, as far as they are read. */
async function readOpen(
  client: Session['client'],
  status: (typeof OPEN)[number],
): Promise<{ proposals: Proposal[]; isCut: boolean }> {
  const proposals: Proposal[] = []
  let pages = 0
  try {
    for await (const { data, meta } of pagesOf((paging) => client.proposals.list({ status, ...paging }))) {
      proposals.push(...data)
      if (++pages === MOST_PAGES) return { proposals, isCut: meta.next_cursor !== null }
    }
    return { proposals, isCut: false }
  } catch {
    return { proposals, isCut: pages > 0 }
  }
}

/** Whether the wallet may take its next step: a vote that it has not given, or the execution. */
function waitsFor({ approver, status, decisions }: Proposal, own: string): boolean {
  const hasDecided = decisions.some(({ approver: address }) => address === own)
  if (approver.kind === 'rule') {
    const isNamed = approver.approvers.some(({ address, revoked }) => address === own && !revoked)
    return status === 'active' && isNamed && !hasDecided
  }
  const member = approver.members.find(({ address }) => address === own)
  return status === 'approved' ? member?.execute === true : member?.vote === true && !hasDecided
}

/** The id, what it waits for, and as much of the act as fits. */
function lineOf({ id, status, what, needed, decisions }: Proposal, isMine: boolean): string {
  const approved = decisions.filter(({ decision }) => decision === 'approved').length
  const state = status === 'approved' ? 'to be executed' : `${approved} of ${needed} approvals`
  const line = printable(`${id} waits${isMine ? ' for you' : ''}, ${state}: ${what}`)
  return line.length <= COLUMNS ? line : `${line.slice(0, COLUMNS - 1)}…`
}
