/** /console/proposals: the acts that wait for approval, and one of them with its whole plan. */
import { api, type Proposal } from '../../../src/api/index.ts'
import type { AnyRoute } from '../../../src/api/route.ts'
import { CommandsOf, SameDetails, type SignedAct } from '../act.tsx'
import type { ConsolePage } from '../page.ts'
import { sameAs } from '../same.ts'
import { shownOf, waitingFor } from '../sections.tsx'
import { linked, Rows, tableOf } from '../table.tsx'
import { tablePage } from '../table-page.tsx'
import { Block, clean, Fields, Value, wordsOf } from '../values.tsx'
import type { View } from '../view.ts'

const PROPOSALS = tableOf({
  title: 'Proposals',
  route: api.proposals.list,
  call: (client, query) => client.proposals.list(query),
  empty: 'There are no proposals: nothing waited for approval yet.',
  columns: [
    linked<Proposal>('id', ({ id }) => `/console/proposals/${id}`),
    'what',
    'kind',
    'status',
    'operation',
    'expires_at',
    'created_at',
  ],
})

const proposals = tablePage({
  path: '/console/proposals',
  title: 'Proposals',
  inNavigation: true,
  live: ['events', 'time'],
  table: PROPOSALS,
})

const proposal: ConsolePage = {
  path: '/console/proposals/{id}',
  title: 'Proposal',
  live: ['events', 'time'],
  async content(view) {
    const { id = '' } = view.params
    const { data } = await view.client.proposals.get({ id })
    const { what, plan, fault, next, transaction, approver, decisions, ...record } = data
    return {
      title: what,
      body: (
        <>
          <div id="proposal" data-live>
            {await waitingFor(view, { subject: id })}
            {fault !== null && <p role="alert">{clean(fault)}</p>}
            {next !== null && <p>{clean(next)}</p>}
            <Fields record={record} />
            <Decisions decisions={decisions} needed={data.needed} />
            <SameDetails same={sameAs(view, api.proposals.get, { id })} />
          </div>
          <h2>Plan</h2>
          <p>This is the text that approvers read: what changes control, and each instruction whole.</p>
          <Block text={plan.join('\n')} isWhole />
          <h2>Approver</h2>
          <Approver {...approver} />
          <div id="acts" data-live>
            {await forecast(view, data)}
            <CommandsOf view={view} acts={actsOn(data)} />
          </div>
        </>
      ),
    }
  },
}

export const proposalPages = [proposals, proposal]

const DECISION = ['approver', 'decision', 'at', 'signature'] as const

function Decisions({ decisions, needed }: Pick<Proposal, 'decisions' | 'needed'>) {
  const approved = decisions.filter(({ decision }) => decision === 'approved').length
  const rows = decisions.map((each) => [
    <Value name="approver" value={each.approver} />,
    each.decision,
    <Value name="at" value={each.at} />,
    // It signs a text, and is no transaction with a page of its own.
    <Value name="decision" value={each.signature} />,
  ])
  return (
    <>
      <h2>{`Decisions: ${approved} of ${needed} approvals`}</h2>
      <Rows title="Decisions" heads={DECISION.map(wordsOf)} rows={rows} empty="Nobody has decided yet." />
    </>
  )
}

/** Who approves; of a rule also what is approved at most, and the page for a phone. */
function Approver({ page, ...approver }: Record<string, unknown> & { page?: string }) {
  return (
    <>
      <Fields record={approver} />
      {page !== undefined && (
        <p>
          <a href={`.${page}`}>The page with which a wallet or a phone approves it</a>
        </p>
      )}
    </>
  )
}

const OPEN: readonly Proposal['status'][] = ['planned', 'active', 'approved']

/** What the execution would change now; of a multisig alone, because a rule's act is signed as it was planned. */
async function forecast(view: View, { id, kind, status }: Proposal) {
  if (kind !== 'squads' || !OPEN.includes(status)) return null
  const shown = await shownOf(view.client.proposals.forecast({ id }), (found) => <Fields record={found} />)
  return (
    <>
      <h2>Executed now</h2>
      {shown}
      <SameDetails same={sameAs(view, api.proposals.forecast, { id })} />
    </>
  )
}

type Step = 'approve' | 'reject' | 'cancel' | 'execute' | 'reclaim' | 'renew'

/** The steps that each state has. */
const STEPS: Record<Proposal['kind'], Partial<Record<Proposal['status'], readonly Step[]>>> = {
  squads: {
    planned: ['renew'],
    active: ['approve', 'reject'],
    approved: ['execute', 'cancel'],
    executed: ['reclaim'],
    rejected: ['reclaim', 'renew'],
    cancelled: ['reclaim', 'renew'],
    stale: ['reclaim', 'renew'],
    expired: ['renew'],
  },
  rule: { active: ['approve', 'reject', 'cancel'], approved: ['execute', 'cancel'] },
}

/** Steps that have been done already, or that a fault forbids, are left out. */
function actsOn({ id, kind, status, fault, reclaimed_at, renewed_by }: Proposal): SignedAct[] {
  const isRefused = kind === 'squads' && fault !== null
  const isDone: Partial<Record<Step, boolean>> = {
    ...{ approve: isRefused, execute: isRefused },
    ...{ reclaim: reclaimed_at !== null, renew: renewed_by !== null },
  }
  const steps = (STEPS[kind][status] ?? []).filter((step) => !isDone[step])
  return steps.map((step) => ({
    route: api.proposals[step] as AnyRoute,
    input: { id },
    body: { id, ...bodyOf(kind, step) },
  }))
}

/** What a request needs that the command finds by itself. */
function bodyOf(kind: Proposal['kind'], step: Step): object {
  if (kind === 'squads') return { member: 'YOUR_WALLET' }
  return step === 'approve' || step === 'reject' ? { approver: 'YOUR_WALLET', signature: 'SIGNATURE' } : {}
}
