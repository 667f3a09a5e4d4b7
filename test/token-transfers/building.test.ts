/** Transactions that send a token to many wallets, as they were recorded when the real programs took them. */
import * as spl from '@solana/spl-token'
import { ComputeBudgetProgram, PublicKey, SystemProgram } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { buildTokenTransfers, failedRecipient, MOST_RECIPIENTS } from '../../src/chain/programs/tokens/index.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey } from '../support/golden.ts'
import { openTestChain, PROGRAMS_DIR } from '../support/local-chain.ts'

const [PAYER, MINT] = [goldenKey(1), goldenKey(2)]
const before = [
  ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 }),
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 }),
]

describe.each([
  ['spl', spl.TOKEN_PROGRAM_ID],
  ['token2022', spl.TOKEN_2022_PROGRAM_ID],
] as const)('a transfer of %s', (tokenProgram, program) => {
  const accountOf = (wallet: PublicKey) =>
    spl.getAssociatedTokenAddressSync(MINT.publicKey, wallet, true, program).toBase58()
  const wallets = (count: number) => Array.from({ length: count }, (_, i) => goldenKey(100 + i).publicKey)
  const built = (opened: number, ready: number, version: 0 | 1) =>
    buildTokenTransfers({
      payer: PAYER.publicKey.toBase58(),
      recentBlockhash: GOLDEN_BLOCKHASH,
      ...(version === 1 ? { messageConfig: GOLDEN_CONFIG } : { before }),
      mint: MINT.publicKey.toBase58(),
      tokenProgram,
      decimals: 6,
      source: accountOf(PAYER.publicKey),
      recipients: wallets(opened + ready).map((wallet, i) => ({
        wallet: wallet.toBase58(),
        tokenAccount: accountOf(wallet),
        amount: BigInt(i + 1),
        opens: i < opened,
        hasLamports: false,
      })),
    })
  /** The payer has tokens, and the last wallets have accounts. */
  const arrange = (opened: number, ready: number) => async () => {
    const test = await openTestChain({ programsDir: PROGRAMS_DIR })
    const { chain } = test
    chain.airdrop(PAYER.publicKey.toBase58(), 100_000_000_000n)
    const land = (instructions: Parameters<typeof test.sign>[0], ...more: (typeof MINT)[]) => {
      const landed = chain.send(
        test.sign(instructions, [PAYER, ...more], { blockhash: chain.latestBlockhash().blockhash }),
      )
      expect(landed.err).toBeNull()
    }
    const space = spl.MINT_SIZE
    const owner = PAYER.publicKey
    land(
      [
        SystemProgram.createAccount({
          fromPubkey: owner,
          newAccountPubkey: MINT.publicKey,
          space,
          lamports: Number(chain.minimumBalance(space)),
          programId: program,
        }),
        spl.createInitializeMint2Instruction(MINT.publicKey, 6, owner, null, program),
      ],
      MINT,
    )
    const open = (wallet: PublicKey) =>
      spl.createAssociatedTokenAccountInstruction(
        owner,
        new PublicKey(accountOf(wallet)),
        wallet,
        MINT.publicKey,
        program,
      )
    land([
      open(owner),
      spl.createMintToInstruction(MINT.publicKey, new PublicKey(accountOf(owner)), owner, 10_000n, [], program),
    ])
    for (const wallet of wallets(opened + ready).slice(opened)) land([open(wallet)])
    return test
  }

  it.each([
    ['opened-v0', MOST_RECIPIENTS[0].opened, 0, 0],
    ['ready-v0', 0, MOST_RECIPIENTS[0].ready, 0],
    ['mixed-v0', 4, 9, 0],
    ['opened-v1', MOST_RECIPIENTS[1].opened, 0, 1],
    ['ready-v1', 0, MOST_RECIPIENTS[1].ready, 1],
    ['mixed-v1', 9, 10, 1],
  ] as const)('is built as recorded: %s', async (name, opened, ready, version) => {
    const { transaction, requiredSigners } = await built(opened, ready, version)
    expect(requiredSigners).toEqual([PAYER.publicKey.toBase58()])
    await expectGolden(`tokens/${tokenProgram}-transfers-${name}`, transaction, arrange(opened, ready))
  })

  it('has no room for one more recipient, and says how many fit', async () => {
    for (const version of [0, 1] as const) {
      const { opened, ready } = MOST_RECIPIENTS[version]
      await expect(built(opened + 1, 0, version)).rejects.toMatchObject({ details: { fits: opened } })
      await expect(built(0, ready + 1, version)).rejects.toMatchObject({ details: { fits: ready } })
      await expect(built(opened, 60, version)).rejects.toMatchObject({ details: { fits: expect.any(Number) } })
    }
  })
})

it('the recipient whose instruction failed is found from its position', () => {
  const recipients = [{ opens: true }, { opens: false }, { opens: true }]
  const at = (index: number) => failedRecipient({ InstructionError: [index, { Custom: 17 }] }, recipients, 2)
  expect([0, 1, 2, 3, 4, 5, 6, 7].map(at)).toEqual([null, null, 0, 0, 1, 2, 2, null])
  expect(
    [null, 'AccountNotFound', { InsufficientFundsForRent: { account_index: 1 } }].map((err) =>
      failedRecipient(err, recipients, 0),
    ),
  ).toEqual([null, null, null])
})
