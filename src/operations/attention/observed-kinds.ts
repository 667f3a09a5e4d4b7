/** The kinds of what needs a person that looks at the service observe: subject, sentence, command and page of each. */
import type { AttentionKind } from '../../api/attention-kinds.ts'
import { decimalOf, solText } from '../../solana/amounts.ts'
import { SOL_DECIMALS } from '../../solana/constants.ts'
import { type AnyObservedKind, observed, timeText, unended } from './kinds.ts'

const SYSTEM = '/console/system'
const system = () => SYSTEM
const GIB = 1024 ** 3
const gib = (bytes: number) => `${(bytes / GIB).toFixed(1)} GiB`
/** Some parts of a sentence, without those that are null. */
const listed = (parts: readonly (string | null)[]) => parts.filter((part) => part !== null).join(', ')
const counted = (count: number, one: string) => (count === 0 ? null : `${count} ${one}${count === 1 ? '' : 's'}`)

interface WalletFacts {
  balance: string
  needed: string
  migrations: number
  claims: number
  sponsored: string
}

const RECORDS: Record<string, { name: string; command: string; page: string }> = {
  'audit-log': { name: 'audit log', command: 'svc audit verify', page: '/console/signer' },
  events: { name: 'list of events', command: 'svc events verify --repair', page: SYSTEM },
  ledger: { name: 'ledger', command: 'svc ledger verify --repair', page: '/console/ledger' },
}
const PROGRAM_STATES: Record<string, (detail: string | null) => string> = {
  unusable: (detail) => `cannot be run by the cluster: ${detail}`,
  failing: (detail) => `has a build with which these acts fail: ${detail}`,
  untried: () => 'has a build that is new to this version and that was not tried',
  untested: () => 'has a build that is new to this version; what was tried with it works',
}

export const OBSERVED_KINDS = {
  wallet_low: observed<WalletFacts>({
    subject: 'wallet',
    page: () => '/console/signer',
    says: ({ subject, facts: { balance, needed, migrations, claims, sponsored } }) => {
      const planned = [counted(migrations, 'migration'), counted(claims, 'scheduled claim')]
      const paid = sponsored === '0' ? null : `sponsored claims of up to ${solText(sponsored)}`
      const what = listed([...planned, paid])
      return {
        summary: `The platform wallet ${subject} has ${solText(balance)}, and ${what} need about ${solText(needed)}.`,
        command: `svc wallet send ${subject} ${decimalOf(BigInt(needed) - BigInt(balance), SOL_DECIMALS)}`,
      }
    },
  }),
  records_broken: observed<{ reason: string }>({
    subject: 'records',
    page: (subject) => RECORDS[subject]?.page ?? SYSTEM,
    says: ({ subject, facts: { reason } }) => ({
      summary: `The ${RECORDS[subject]?.name ?? subject} does not verify: ${reason}.`,
      command: RECORDS[subject]?.command ?? 'svc status',
    }),
  }),
  node_behind: observed<{ endpoint: string; slots?: number | null; seconds?: number }>({
    subject: 'node',
    page: system,
    says: ({ facts: { endpoint, slots, seconds } }) => ({
      summary:
        seconds === undefined
          ? `The node ${endpoint} is ${slots ?? 'many'} slots behind the others; svc does not read from it.`
          : `The newest block that ${endpoint} shows is ${seconds} seconds old: node or cluster stands still, or the clock of this machine is ahead.`,
      command: 'svc doctor',
    }),
  }),
  node_unreachable: observed<{ endpoint: string; error: string | null }>({
    subject: 'node',
    page: system,
    says: ({ facts: { endpoint, error } }) => ({
      summary: `The node ${endpoint} does not answer${error === null ? '' : `: ${unended(error)}`}.`,
      command: 'svc doctor',
    }),
  }),
  other_consensus: observed<{ endpoint: string; genesis?: string | null; alpenglow?: number; tower?: number }>({
    subject: 'node',
    page: system,
    says: ({ facts: { endpoint, genesis, alpenglow = 0, tower = 0 } }) => ({
      summary:
        genesis !== undefined
          ? `The node ${endpoint} is of another chain (genesis ${genesis}); it is never used.`
          : alpenglow === 0
            ? `The nodes of ${endpoint} report Tower, and the cluster has changed to Alpenglow before.`
            : `The nodes of ${endpoint} disagree about the consensus: ${alpenglow} report Alpenglow, ${tower} Tower.`,
      command: 'svc doctor',
    }),
  }),
  program_changed: observed<{ name: string; state: string; detail: string | null }>({
    subject: 'program',
    page: system,
    says: ({ facts: { name, state, detail } }) => ({
      summary: `The program ${name} ${PROGRAM_STATES[state]?.(detail) ?? state}.`,
      command: 'svc programs list',
    }),
  }),
  worker_late: observed<{ worker: string; reason: string; observer: string }>({
    subject: 'worker',
    page: system,
    says: ({ facts: { worker, reason, observer } }) => ({
      summary: `The worker ${worker} of ${observer} is late: ${unended(reason)}.`,
      command: 'svc status',
    }),
  }),
  backup_failed: observed<{ error: string }>({
    subject: 'backup',
    page: system,
    says: ({ facts: { error } }) => ({
      summary: `The last backup failed: ${unended(error)}.`,
      command: 'svc db backup --force',
    }),
  }),
  backup_old: observed<{ made_at: string }>({
    subject: 'backup',
    page: system,
    says: ({ facts: { made_at } }) => ({
      summary: `The last backup is of ${timeText(Date.parse(made_at))}.`,
      command: 'svc db backup',
    }),
  }),
  disk_filling: observed<{ free: number; size: number; observer: string }>({
    subject: 'disk',
    page: system,
    says: ({ facts: { free, size, observer } }) => ({
      summary: `The disk of the data folder of ${observer} has ${gib(free)} free of ${gib(size)}.`,
      command: 'svc db status',
    }),
  }),
  secret_expires: observed<{ expires_at: number }>({
    subject: 'secret',
    page: (subject) => (subject.startsWith('whs_') ? `/console/webhooks/${subject}` : SYSTEM),
    says: ({ subject, facts: { expires_at } }) => {
      const isWebhook = subject.startsWith('whs_')
      return {
        summary: isWebhook
          ? `An earlier secret of the webhook subscription ${subject} ends at ${timeText(expires_at)}: its receiver needs the new one by then.`
          : `What the setting ${subject} names ends at ${timeText(expires_at)}.`,
        command: isWebhook ? `svc webhooks get ${subject}` : `svc config get ${subject}`,
        ends_at: isWebhook ? expires_at : null,
      }
    },
  }),
} satisfies Partial<Record<AttentionKind, AnyObservedKind>>
