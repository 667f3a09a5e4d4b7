/** `svc pools transfer-creator`: hands the role of a pool's creator over, signed by the present one. */
import type { PoolCreatorTransfer } from '../../src/api/creator-transfers.ts'
import { paths } from '../../src/api/paths.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { poolAddress, required, text, verb } from '../cli/command.ts'
import { amountTexts } from '../fees/amounts.ts'
import { type Flat, flat } from '../signing/built-transactions.ts'
import { demanding } from '../signing/demand.ts'
import { ALLOW_PROGRAMS, buildFields, programsField, SIGNING, WALLET_ADDRESS } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { runSigned } from '../signing/run.ts'

const demandsCreatorTransfer = demanding(
  'this wallet becomes the creator',
  ({ payer }, { pool, creator }: { pool: string; creator: string }) => [
    {
      program: PROGRAMS.dbc.id,
      call: 'transfer_pool_creator',
      fields: { virtual_pool: pool, creator: payer, new_creator: creator },
    },
  ],
)

const { submit, get, simulate } = paths.transactions

export const transferCreatorVerb = verb({
  about: 'Transfer the creator role of a pool',
  details:
    'The present creator signs. What it has not claimed yet goes to the new creator: claim it first with `svc fees claim --as creator`. Vested tokens and positions of the migrated pool stay where they are.',
  calls: [paths.pools.transferCreator, simulate, submit, get],
  args: { address: required(poolAddress()) },
  flags: {
    to: required(text('Wallet that becomes the creator', WALLET_ADDRESS)),
    allow_programs: ALLOW_PROGRAMS,
    ...SIGNING,
  },
  examples: [
    'svc pools transfer-creator CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --to 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 -k creator.json',
    'svc pools transfer-creator CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --to 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 --dry-run',
  ],
  run: ({ address, to, ...flags }, session) =>
    runSigned<Flat<PoolCreatorTransfer>>(session, flags, {
      what: `Make ${to} the creator of ${address}`,
      build: async (payer) => {
        const request = { address, payer, new_creator: to, ...programsField(flags), ...buildFields(flags) }
        return flat(await session.client.pools.transferCreator(request))
      },
      demand: (of) => demandsCreatorTransfer(of, { pool: address, creator: to }),
      preview: ({ creator, unclaimed_quote, unclaimed_base, ...mints }) => [
        previewLine('creator', creator),
        ...amountTexts({ ...mints, estimated_quote: unclaimed_quote, estimated_base: unclaimed_base }).map((amount) =>
          previewLine('unclaimed', `${amount}, moves along`),
        ),
      ],
      show: ({ pool_address, creator, new_creator, unclaimed_quote, unclaimed_base }) => ({
        pool_address,
        creator,
        new_creator,
        unclaimed_quote,
        unclaimed_base,
      }),
    }),
})
