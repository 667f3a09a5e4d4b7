/** `svc pools create --from --squads`: proposes the launch of every row of a list, each by a vault. */
import type { PoolCreated } from '../../src/api/pools.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { proposeRows } from '../lists/propose-rows.ts'
import { approverField, txVersionField } from '../signing/flags.ts'
import type { ActingVault } from '../signing/wallet.ts'
import { counted } from '../ui/words.ts'
import { launchAnswer, launchDemand } from './launch-body.ts'
import type { CreateFlags } from './launch-flags.ts'
import { bodyOfRow, type LaunchList } from './list-rows.ts'

export async function proposeLaunches(
  session: Session,
  input: CreateFlags,
  { file, rows, problem }: LaunchList,
  acting: ActingVault,
): Promise<CommandOutcome> {
  const own = rows.filter(({ fields }) => fields.base_mint !== undefined)
  const message = 'a mint_keypair is for a wallet of your own: a vault makes its mints itself'
  if (own.length > 0) throw problem(own.map((row) => ({ row, field: 'base_mint', message })))
  return proposeRows<PoolCreated>(session, input, acting, {
    file,
    journal: input.journal ?? `${file}.proposals.json`,
    rows: async () => ({
      question: `Launch ${counted(rows.length, 'token')}`,
      rows: rows.map((row) => {
        const { line, fields, sha256 } = row
        const build = async (creator: string, more: { dry_run?: true } = {}) => {
          const body = {
            ...(await bodyOfRow(row)),
            creator,
            ...txVersionField(input),
            ...approverField({ squads: acting }),
          }
          return session.client.pools.create({ ...body, ...more })
        }
        return {
          id: `${fields.symbol} ${sha256}`,
          line,
          name: fields.symbol,
          run: {
            what: `Launch ${fields.name} (${fields.symbol}), row ${sha256}`,
            build: (creator: string) => build(creator),
            demand: (of, data) =>
              launchDemand(session, of, { creator: of.payer, body: fields, bounds: input, answer: launchAnswer(data) }),
          },
          tryBuild: async (creator: string) => (await build(creator, { dry_run: true })).data,
        }
      }),
    }),
  })
}
