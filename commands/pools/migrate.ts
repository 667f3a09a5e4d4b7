/** `svc pools migrate`: sends the migration of a full curve, which anybody may pay for. */
import { paths } from '../../src/api/paths.ts'
import type { PoolMigrationBuilt } from '../../src/api/pool-migrations.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { type CommandOutcome, poolAddress, required, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { type Flat, flat } from '../signing/built-transactions.ts'
import { anyValue, demanding, opens } from '../signing/demand.ts'
import { buildFields, SIGNING, type SigningFlags } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { runSigned } from '../signing/run.ts'

type Step = PoolMigrationBuilt['step']

const demandsMigration = demanding(
  'the next step of this migration',
  ({ payer }, { pool, step }: { pool: string; step: Step }) => [
    ...(step === 'create_locker' ? [opens(payer, anyValue, anyValue)] : []),
    {
      program: PROGRAMS.dbc.id,
      call: step === 'migrate' ? 'migration_damm_v2' : 'create_locker',
      fields: { virtual_pool: pool, payer },
    },
  ],
)

const STEP_TEXTS: Readonly<Record<Step, string>> = {
  create_locker: 'make the lock of its vested tokens, then migrate it',
  migrate: 'migrate it to DAMM v2',
}

const { submit, get, simulate, forecast } = paths.transactions

export const migrate = verb({
  about: 'Migrate a full curve to its pool; anybody may',
  details:
    'Your keypair pays the fees and the rent of the new accounts; it receives nothing, and needs no role. A curve with vesting takes two transactions: the command sends the second once the first is confirmed, and can be run again after any interruption.',
  calls: [paths.pools.migrate, simulate, forecast, submit, get],
  args: { address: required(poolAddress()) },
  flags: SIGNING,
  examples: [
    'svc pools migrate CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
    'svc pools migrate CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --dry-run -k id.json',
  ],
  async run({ address, ...flags }, session) {
    const { step, outcome } = await sendStep(session, address, flags)
    const isSent = !flags.dry_run && !flags.build_only
    if (step === 'migrate' || !isSent) return outcome
    if (flags.squads !== undefined) {
      const { multisig, vaultIndex } = flags.squads
      const again = `svc pools migrate ${address} --squads ${multisig}:${vaultIndex}`
      return { ...outcome, notes: [...(outcome.notes ?? []), `Once it is executed: \`${again}\` again`] }
    }
    if (flags.wait === 'none') {
      return { ...outcome, notes: [...(outcome.notes ?? []), `Then: \`svc pools migrate ${address}\` again`] }
    }
    return (await sendStep(session, address, flags)).outcome
  },
})

async function sendStep(
  session: Session,
  address: string,
  flags: SigningFlags,
): Promise<{ step: Step; outcome: CommandOutcome }> {
  let step: Step = 'migrate'
  const outcome = await runSigned<Flat<PoolMigrationBuilt>>(session, flags, {
    showsTotal: true,
    what: (data) => `Migrate ${address}: ${STEP_TEXTS[data.step]}`,
    async build(payer) {
      const built = flat(await session.client.pools.migrate({ address, payer, ...buildFields(flags) }))
      step = built.data.step
      return built
    },
    demand: (of, data) => demandsMigration(of, { pool: address, step: data.step }),
    preview: ({ damm_pool_address }) => [previewLine('becomes', damm_pool_address)],
    show: ({ pool_address, damm_pool_address }) => ({ pool_address, step, damm_pool_address }),
  })
  return { step, outcome }
}
