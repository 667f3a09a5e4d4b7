/** /console/signer: the policy against its use, what was refused, and the audit log. */
import { type AuditEntry, api, type SignerState } from '../../../src/api/index.ts'
import { groupedDecimalOf } from '../../../src/solana/amounts.ts'
import { SOL_DECIMALS } from '../../../src/solana/constants.ts'
import { CommandOf, SameDetails } from '../act.tsx'
import type { ConsolePage } from '../page.ts'
import { sameAs } from '../same.ts'
import { shownOf, waitingFor } from '../sections.tsx'
import { folded, Records, Rows, tableOf } from '../table.tsx'
import { tablePage } from '../table-page.tsx'
import { clean, Fields, Time } from '../values.tsx'
import { linkTo, type View } from '../view.ts'

const ROOT = '/console/signer'
const [AUDIT, SCHEDULES] = [`${ROOT}/audit`, `${ROOT}/schedules`]
/** The pages of the signer. */
export const SIGNER_PLACES = [
  { path: ROOT, title: 'Policy and use' },
  { path: SCHEDULES, title: 'Fee schedules' },
  { path: AUDIT, title: 'Audit log' },
  { path: `${ROOT}/verification`, title: 'Verification of the audit log' },
]

const signer: ConsolePage = {
  path: ROOT,
  title: 'Signer',
  inNavigation: true,
  siblings: SIGNER_PLACES,
  live: ['transactions', 'events', 'time'],
  async content(view) {
    return {
      body: (
        <div id="signer" data-live>
          {await waitingFor(view, { kind: 'schedule_stopped' })}
          {await shownOf(view.client.signer.get(), (state) => <State view={view} state={state} />)}
        </div>
      ),
    }
  },
}

async function State({ view, state }: { view: View; state: SignerState }) {
  const { policy, spent, ...about } = state
  if (policy === null) return <Fields record={about} />
  const { paused, paused_reason, ...rules } = policy
  return (
    <>
      <Fields record={{ ...about, paused, paused_reason }} />
      {paused && <p role="alert">The signer is paused: it signs nothing.</p>}
      <CommandOf view={view} route={paused ? api.signer.resume : api.signer.pause} input={{}} />
      <h2>Limits of a day</h2>
      <Rows
        title="Limits of a day"
        heads={['What', 'Spent', 'Limit', 'Left', 'Use']}
        rows={(await usesOf(view, state)).map(useCells)}
        empty="There are none."
      />
      <p>Spent since {spent !== null && <Time at={spent.since} />}.</p>
      <SameDetails same={sameAs(view, api.signer.get, {})} />
      <h2>What was refused</h2>
      {await refusals(view)}
      <h2>Policy</h2>
      <Fields record={rules} />
    </>
  )
}

/** The most mints that are asked for at once. */
const MOST_LABELS = 100

interface Use {
  name: string
  decimals: number
  limit: bigint
  spent: bigint
}

/** What a day may take and has taken, of SOL and of each mint of the policy. */
async function usesOf({ client }: View, { policy, spent }: SignerState): Promise<Use[]> {
  const limits = policy?.tokens ?? []
  const mints = limits.map(({ mint }) => mint).slice(0, MOST_LABELS)
  // A mint whose decimals the node does not show is counted in raw units.
  const labels =
    mints.length === 0
      ? []
      : await client.tokens.batchFetch({ mints }).then(
          ({ data }) => data.tokens,
          () => [],
        )
  const tokens = limits.map(({ mint, per_day }, at) => ({
    name: labels[at] ? `${labels[at].symbol ?? ''} ${mint}` : `raw units of ${mint}`,
    decimals: labels[at]?.decimals ?? 0,
    limit: BigInt(per_day),
    spent: BigInt(spent?.tokens.find((token) => token.mint === mint)?.amount ?? 0),
  }))
  const sol = { limit: BigInt(policy?.lamports_per_day ?? 0), spent: BigInt(spent?.lamports ?? 0) }
  return [{ name: 'SOL', decimals: SOL_DECIMALS, ...sol }, ...tokens]
}

function useCells({ name, decimals, limit, spent }: Use) {
  const left = spent < limit ? limit - spent : 0n
  const percent = limit > 0n ? Number((100n * spent) / limit) : 0
  const shown = [spent, limit, left].map((raw) => <span class="number">{groupedDecimalOf(raw, decimals)}</span>)
  const use = (
    <>
      <meter min={0} max={100} high={80} value={Math.min(100, percent)} aria-label={`Used of ${clean(name)}`} />{' '}
      {percent} %
    </>
  )
  return [clean(name), ...shown, use]
}

async function refusals({ client }: View) {
  const { data } = await client.auditEntries.list({ action: 'signing.refused', limit: '10' })
  const records = data.map(({ details: { operation, rule }, ...entry }) => ({ ...entry, operation, rule }))
  const fields = ['at', 'operation', 'rule', 'sequence', 'request_id'] as const
  return (
    <>
      <Records title="What was refused" records={records} fields={fields} empty="The policy has refused nothing." />
      <a href={linkTo(AUDIT, { action: 'signing.refused' })}>All refusals, with their figures</a>
    </>
  )
}

const ENTRIES = tableOf<AuditEntry>({
  title: 'Audit log',
  route: api.auditEntries.list,
  call: (client, query) => client.auditEntries.list(query),
  empty: 'There are no such entries.',
  columns: ['sequence', 'at', 'action', 'api_key_id', 'signer', folded('details'), 'request_id', 'hash'],
})

/** It reads the whole log, so it has an address of its own. */
const verification: ConsolePage = {
  path: `${ROOT}/verification`,
  title: 'Verification of the audit log',
  siblings: SIGNER_PLACES,
  async content(view) {
    const { data } = await view.client.auditEntries.verify()
    return {
      body: (
        <>
          {data.broken === null ? (
            <p role="status">The audit log is intact.</p>
          ) : (
            <p role="alert">The audit log is not intact from entry {data.broken.sequence} on.</p>
          )}
          <Fields record={data} />
          <SameDetails same={sameAs(view, api.auditEntries.verify, {})} isOpen />
        </>
      ),
    }
  },
}

const audit = tablePage({ path: AUDIT, title: 'Audit log', siblings: SIGNER_PLACES, table: ENTRIES })

export const signerPages = [signer, audit, verification]
