/** `svc pools positions transfer`: sends positions of a DAMM v2 pool to another wallet or a multisig's vault. */
import { paths } from '../../../src/api/paths.ts'
import type { PoolPositionTransfer } from '../../../src/api/position-transfers.ts'
import { TOKEN_2022_PROGRAM } from '../../../src/solana/program-ids.ts'
import { required, text, verb } from '../../cli/command.ts'
import { type Flat, flat } from '../../signing/built-transactions.ts'
import { type Call, closes, demanding, opens, type Signing, unexpectedBuild } from '../../signing/demand.ts'
import { ALLOW_PROGRAMS, buildFields, programsField, SIGNING, WALLET_ADDRESS } from '../../signing/flags.ts'
import { previewLine } from '../../signing/preview.ts'
import { runSigned } from '../../signing/run.ts'
import { EXAMPLE_POOL, POOL } from './parts.ts'

/** The most positions of one transaction. */
const MOST_POSITIONS = 4

const demandsTransfer = demanding(
  'these positions to this wallet, and nothing else',
  async ({ payer, accounts }: Signing, asked: { mints: readonly string[]; to: string }): Promise<Call[]> =>
    (
      await Promise.all(
        asked.mints.slice(0, MOST_POSITIONS).map(async (mint): Promise<Call[]> => {
          const destination = await accounts(mint, asked.to)
          const fields = { mint, destination, amount: 1, decimals: 0, authority: payer }
          return [
            opens(payer, asked.to, mint),
            { program: TOKEN_2022_PROGRAM, call: 'transferChecked', fields },
            // The program closes only an account that is empty.
            closes(payer, () => true),
          ]
        }),
      )
    ).flat(),
)

/**
 * The NFTs of these positions. Throws a failure if a position is not that of its NFT, or another than the only one that
 * was asked for.
 */
async function checkedNfts(
  of: Signing,
  { pool_address, positions }: Pick<PoolPositionTransfer, 'pool_address' | 'positions'>,
  only: string | undefined,
): Promise<string[]> {
  for (const { position, nft_mint } of positions) {
    if ((await of.position(nft_mint)) !== position) throw unexpectedBuild(`${nft_mint} is not the NFT of ${position}`)
  }
  if (only === undefined) of.note(`they are positions of the pool ${pool_address}, as the API reads it`)
  else if (positions.length !== 1 || positions[0]?.position !== only) {
    throw unexpectedBuild(`it sends ${positions.map(({ position }) => position).join(', ') || 'nothing'}, not ${only}`)
  }
  return positions.map(({ nft_mint }) => nft_mint)
}

const { submit, get, simulate } = paths.transactions

export const transferVerb = verb({
  about: "Send positions of a migrated pool to another wallet or a multisig's vault",
  details:
    'Whoever holds the NFT of a position owns its liquidity and its fees, also the unclaimed ones: claim them first with `svc pools positions claim`. Locked liquidity stays locked. Without --position all that you hold are sent, four in a transaction. For the vault of a multisig add --allow-programs.',
  calls: [paths.pools.transferPositions, simulate, submit, get],
  args: POOL,
  flags: {
    to: required(text('Wallet that gets the positions', WALLET_ADDRESS)),
    position: text('Only this position, instead of all that you hold', WALLET_ADDRESS),
    allow_programs: ALLOW_PROGRAMS,
    ...SIGNING,
  },
  examples: [
    `svc pools positions transfer ${EXAMPLE_POOL} --to 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 -k owner.json`,
    `svc pools positions transfer ${EXAMPLE_POOL} --to 7Kqa3YXKZzUhDpVB3XcxZcQnGs5Bs2Tn1zZ1mcKjqAVA --allow-programs --dry-run`,
  ],
  run: ({ address, to, position, ...flags }, session) =>
    runSigned<Flat<PoolPositionTransfer>>(session, flags, {
      what: ({ positions }) =>
        `Send ${positions.length === 1 ? 'a position' : `${positions.length} positions`} of ${address} to ${to}`,
      build: async (payer) =>
        flat(
          await session.client.pools.transferPositions({
            address,
            payer,
            new_owner: to,
            ...programsField(flags),
            ...buildFields(flags),
            ...(position === undefined ? {} : { position }),
          }),
        ),
      demand: async (of, data) => demandsTransfer(of, { mints: await checkedNfts(of, data, position), to }),
      preview: ({ positions, remaining_positions }) => [
        ...positions.map((each) => previewLine('position', each.position)),
        ...(remaining_positions === 0
          ? []
          : [previewLine('left', `${remaining_positions} smaller positions: run it again`)]),
      ],
      show: ({ pool_address, owner, new_owner, positions, remaining_positions }) => ({
        pool_address,
        owner,
        new_owner,
        positions: positions.map((each) => each.position),
        remaining_positions,
      }),
    }),
})
