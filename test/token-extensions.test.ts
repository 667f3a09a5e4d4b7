/** Extensions of Token-2022 as real mints have them: what a token's record says, and where a transfer fee goes. */
import * as spl from '@solana/spl-token'
import { Keypair, type PublicKey, SystemProgram, Transaction, type TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { effectLines } from '../commands/signing/preview.ts'
import { parseInstruction } from '../src/localnet/rpc/instructions.ts'
import { readMintExtensions, withheldFee } from '../src/solana/token-extensions.ts'
import { mapped } from './support/mapped.ts'
import { sharedService } from './support/service.ts'
import { walletOn } from './support/wallets.ts'

const PROGRAM = spl.TOKEN_2022_PROGRAM_ID
const HOOK = Keypair.generate().publicKey

const shared = sharedService()

async function open() {
  const service = await shared()
  const { chain, wallet: payer } = await walletOn(service.services, 10_000_000_000n)
  const unsigned = (instructions: TransactionInstruction[]) => {
    const transaction = new Transaction({
      feePayer: payer.publicKey,
      recentBlockhash: chain.latestBlockhash().blockhash,
    })
    return transaction.add(...instructions)
  }
  const land = (instructions: TransactionInstruction[], ...signers: Keypair[]) => {
    const transaction = unsigned(instructions)
    transaction.sign(payer, ...signers)
    expect(chain.send(transaction.serialize()).err).toBeNull()
  }
  /** Opens a mint with these extensions and two decimals. */
  const openMint = (
    types: spl.ExtensionType[],
    initialize: (mint: PublicKey) => TransactionInstruction[],
    freezeAuthority: PublicKey | null = null,
  ) => {
    const mint = Keypair.generate()
    const space = spl.getMintLen(types)
    land(
      [
        SystemProgram.createAccount({
          fromPubkey: payer.publicKey,
          newAccountPubkey: mint.publicKey,
          space,
          lamports: Number(chain.minimumBalance(space)),
          programId: PROGRAM,
        }),
        ...initialize(mint.publicKey),
        spl.createInitializeMint2Instruction(mint.publicKey, 2, payer.publicKey, freezeAuthority, PROGRAM),
      ],
      mint,
    )
    return mint.publicKey
  }
  return { service, chain, payer, unsigned, land, openMint }
}

it('a record names what its extensions do to transfers and amounts', async () => {
  const { service, payer, openMint, chain } = await open()
  const { ExtensionType: Type } = spl
  const owner = payer.publicKey
  const mint = openMint(
    [
      Type.TransferFeeConfig,
      Type.TransferHook,
      Type.PermanentDelegate,
      Type.DefaultAccountState,
      Type.ScaledUiAmountConfig,
    ],
    (key) => [
      spl.createInitializeTransferFeeConfigInstruction(key, owner, owner, 123, 5_000n, PROGRAM),
      spl.createInitializeTransferHookInstruction(key, owner, HOOK, PROGRAM),
      spl.createInitializePermanentDelegateInstruction(key, owner, PROGRAM),
      spl.createInitializeDefaultAccountStateInstruction(key, spl.AccountState.Initialized, PROGRAM),
      spl.createInitializeScaledUiAmountConfigInstruction(key, owner, 1.5, PROGRAM),
    ],
  )
  const { json } = await service.request('GET', `/v2/tokens/${mint.toBase58()}`)
  const fee = { basis_points: 123, maximum_fee: '5000', from_epoch: expect.stringMatching(/^\d+$/) }
  expect(json.data.raw).toMatchObject({ token_program: 'token2022', decimals: 2 })
  expect(json.data.raw.extensions).toEqual({
    transfer_fee: { ...fee, earlier: fee, withheld_in_mint: '0' },
    transfer_hook: HOOK.toBase58(),
    permanent_delegate: owner.toBase58(),
    ui_multiplier: { before: '1.5', effective_at: expect.stringMatching(/^\d+$/), after: '1.5' },
    authorities: Object.fromEntries(
      ['transfer_fee_config', 'withheld_withdraw', 'permanent_delegate', 'transfer_hook', 'scaled_amount'].map(
        (name) => [name, owner.toBase58()],
      ),
    ),
  })
  const data = chain.account(mint.toBase58())!.data
  expect(readMintExtensions(data)).toMatchObject({ isTransferable: true, isFrozenByDefault: false, isPaused: null })
})

it.each([
  [
    'non_transferable',
    spl.ExtensionType.NonTransferable,
    (mint: PublicKey) => spl.createInitializeNonTransferableMintInstruction(mint, PROGRAM),
    true,
  ],
  [
    'interest_basis_points',
    spl.ExtensionType.InterestBearingConfig,
    (mint: PublicKey) => spl.createInitializeInterestBearingMintInstruction(mint, HOOK, -250, PROGRAM),
    -250,
  ],
  [
    'frozen_by_default',
    spl.ExtensionType.DefaultAccountState,
    (mint: PublicKey) => spl.createInitializeDefaultAccountStateInstruction(mint, spl.AccountState.Frozen, PROGRAM),
    true,
  ],
] as const)('a record says %s', async (name, type, initialize, value) => {
  const { service, openMint } = await open()
  const mint = openMint([type], (key) => [initialize(key)], HOOK)
  const { json } = await service.request('GET', `/v2/tokens/${mint.toBase58()}`)
  const { authorities, ...extensions } = json.data.raw.extensions
  expect(extensions).toEqual({ [name]: value })
  expect(authorities).toEqual(name === 'interest_basis_points' ? { interest_rate: HOOK.toBase58() } : undefined)
})

it('a simulation shows what a transfer fee keeps of what arrives, and the terminal says it', async () => {
  const { service, payer, openMint, land, unsigned } = await open()
  const owner = payer.publicKey
  const mint = openMint([spl.ExtensionType.TransferFeeConfig], (key) => [
    spl.createInitializeTransferFeeConfigInstruction(key, owner, owner, 100, 1_000_000n, PROGRAM),
  ])
  const friend = Keypair.generate().publicKey
  const [from, to] = [owner, friend].map((of) => spl.getAssociatedTokenAddressSync(mint, of, false, PROGRAM))
  land([
    spl.createAssociatedTokenAccountInstruction(owner, from!, owner, mint, PROGRAM),
    spl.createAssociatedTokenAccountInstruction(owner, to!, friend, mint, PROGRAM),
    spl.createMintToInstruction(mint, from!, owner, 1_000_000n, [], PROGRAM),
  ])
  const sending = unsigned([
    spl.createTransferCheckedInstruction(from!, mint, to!, owner, 100_050n, 2, [], PROGRAM),
  ]).serialize({ verifySignatures: false })
  const { json } = await service.request('POST', '/v2/transaction-simulations', {
    body: { transaction: sending.toString('base64') },
  })
  const rows = json.data.balance_changes.filter((row: { mint: string | null }) => row.mint !== null)
  expect(rows).toHaveLength(2)
  const [spent, received] = [from, to].map((account) =>
    rows.find(({ address }: { address: string }) => address === account!.toBase58()),
  )
  expect([spent.change, spent.withheld]).toEqual(['-100050', undefined])
  expect([received.change, received.withheld, received.decimals]).toEqual(['99049', '1001', 2])
  expect(effectLines(json.data, owner.toBase58()).join('\n')).toContain(
    `+990.49 of ${mint.toBase58()}  (0 → 990.49, 10.01 more kept by the transfer fee)`,
  )
})

it('whatever bytes stand where extensions do, they are read or count as absent', () => {
  const withTail = (tail: Uint8Array) => Uint8Array.from([...new Uint8Array(165), 1, ...tail])
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (tail) => {
      expect(typeof withheldFee(withTail(tail))).toBe('bigint')
      expect(readMintExtensions(withTail(tail)).isTransferable).toBeTypeOf('boolean')
      expect(readMintExtensions(tail).transferHook).toBeNull()
    }),
    { numRuns: 150 },
  )
  expect(withheldFee(withTail(Uint8Array.of(2, 0, 8, 0, 7, 0, 0, 0, 0, 0, 0, 0)))).toBe(7n)
  expect(withheldFee(withTail(Uint8Array.of(2, 0, 8, 0, 7, 0, 0, 0, 0, 0, 0)))).toBe(0n)
  expect(withheldFee(withTail(Uint8Array.of(2, 0, 4, 0, 7, 0, 0, 0)))).toBe(0n)
})

it('the embedded chain shows the instructions of extensions as validators do', () => {
  const [mint, to, authority, one, two] = mapped([1, 2, 3, 4, 5], () => Keypair.generate().publicKey)
  const shown = ({ keys, data }: TransactionInstruction) => {
    const accounts = keys.map((_, i) => i + 1)
    const addresses = [PROGRAM.toBase58(), ...keys.map(({ pubkey }) => pubkey.toBase58())]
    return (parseInstruction({ programIdIndex: 0, accounts, data }, addresses) as { parsed: object }).parsed
  }
  const [m, t, a] = [mint, to, authority].map((key) => key.toBase58())
  const sources = [one, two].map((key) => key.toBase58())
  expect(shown(spl.createInitializeTransferFeeConfigInstruction(mint, authority, null, 5, 7n, PROGRAM))).toEqual({
    type: 'initializeTransferFeeConfig',
    info: { mint: m, transferFeeConfigAuthority: a, transferFeeBasisPoints: 5, maximumFee: 7n },
  })
  const withdrawal = spl.createWithdrawWithheldTokensFromAccountsInstruction(
    mint,
    to,
    authority,
    [],
    [one, two],
    PROGRAM,
  )
  expect(shown(withdrawal)).toEqual({
    type: 'withdrawWithheldTokensFromAccounts',
    info: { mint: m, feeRecipient: t, sourceAccounts: sources, withdrawWithheldAuthority: a },
  })
  expect(shown(spl.createHarvestWithheldTokensToMintInstruction(mint, [one, two], PROGRAM))).toEqual({
    type: 'harvestWithheldTokensToMint',
    info: { mint: m, sourceAccounts: sources },
  })
  expect(shown(spl.createInitializeScaledUiAmountConfigInstruction(mint, null, 1.5, PROGRAM))).toEqual({
    type: 'initializeScaledUiAmountConfig',
    info: { mint: m, authority: null, multiplier: '1.5' },
  })
  expect(shown(spl.createUpdateMultiplierDataInstruction(mint, authority, 2, 9n, [], PROGRAM))).toEqual({
    type: 'updateMultiplier',
    info: { mint: m, newMultiplier: '2', newMultiplierTimestamp: 9n, authority: a },
  })
  const rate = spl.createUpdateRateInterestBearingMintInstruction(mint, authority, -5, [], PROGRAM)
  rate.keys = rate.keys.slice(0, 2)
  expect(shown(rate)).toEqual({
    type: 'updateInterestBearingConfigRate',
    info: { mint: m, newRate: -5, rateAuthority: a },
  })
  expect(shown(spl.createPauseInstruction(mint, authority, [], PROGRAM))).toEqual({
    type: 'pause',
    info: { mint: m, authority: a },
  })
})
