/** Attempts to drain the platform wallet by accounts that a transaction opens and ends, which no balance shows. */
import * as cpAmm from '@meteora-ag/cp-amm-sdk'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import BN from 'bn.js'
import { describe, expect, it } from 'vitest'
import { dammV2PoolAddress, positionAddresses, vaultAddress } from '../../src/chain/programs/damm-v2/addresses.ts'
import { freshPool, initializePool } from '../../src/chain/programs/damm-v2/opening.ts'
import { sdkInstructions } from '../../src/chain/programs/sdk-instruction.ts'
import { balanceFlows } from '../../src/policy/movement/balance-flows.ts'
import { accountClosings } from '../../src/policy/movement/control-changes.ts'
import { messageInstructions } from '../../src/policy/movement/executed-instructions.ts'
import { instructionEffects } from '../../src/policy/movement/instruction-effects.ts'
import { touchedAccounts } from '../../src/policy/movement/touched-accounts.ts'
import { TOKEN_PROGRAM, WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { DAMM_V2 } from '../../src/solana/programs/damm-v2.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { FULL_RANGE } from '../../src/solana/raise-pool.ts'
import { hasProgram } from '../support/programs.ts'
import { TOKEN_ACCOUNT_RENT } from '../support/rent.ts'
import {
  ata,
  createAta,
  opened,
  openScene,
  type Scene,
  SOL,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  text,
  wrap,
} from './movements-support.ts'

/** Owner of the vaults of DAMM v2. */
const POOL_AUTHORITY = new PublicKey('HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC')
const RENT = TOKEN_ACCOUNT_RENT
const FEE = 5_000n
const cosigners = (...keys: Keypair[]) => keys.map(({ publicKey }) => text(publicKey))
const capped = (mint: PublicKey, amount: bigint) => [{ mint: text(mint), per_transaction: amount, per_day: 2n ** 64n }]

describe.each([
  ['SPL Token', TOKEN_PROGRAM_ID],
  ['Token-2022', TOKEN_2022_PROGRAM_ID],
])('a payment through an account of %s that opens and closes on the way', (_, program) => {
  it.each(['initializeAccount', 'initializeAccount2', 'initializeAccount3'])('by %s is counted', async (by) => {
    const scene = await openScene()
    const { mint } = scene.mint(program, 0n)
    const [vault, temporary] = [Keypair.generate(), Keypair.generate()]
    scene.send(opened(scene, vault, mint, POOL_AUTHORITY, scene.key, program), [scene.wallet, vault])
    const [create, third] = opened(scene, temporary, mint, scene.key, scene.key, program)
    const initialize: Record<string, TransactionInstruction> = {
      initializeAccount: spl.createInitializeAccountInstruction(temporary.publicKey, mint, scene.key, program),
      initializeAccount2: second(temporary.publicKey, mint, scene.key, program),
      initializeAccount3: third!,
    }
    const instructions = [
      create!,
      initialize[by]!,
      spl.createMintToInstruction(mint, temporary.publicKey, scene.key, 100, [], program),
      spl.createTransferInstruction(temporary.publicKey, vault.publicKey, scene.key, 60, [], program),
      spl.createBurnInstruction(temporary.publicKey, mint, scene.key, 40, [], program),
      spl.createCloseAccountInstruction(temporary.publicKey, scene.key, scene.key, [], program),
    ]
    const movement = await scene.read(instructions)
    expect(movement).toMatchObject({ err: null, stable: true, unread: [], lamports_out: FEE * 2n })
    expect(movement.tokens_out).toEqual([{ mint: text(mint), amount: 100n }])
    expect(movement.tokens_to_others).toEqual([{ mint: text(mint), amount: 60n }])
    const told = (amount: bigint) => ({ cosigners: cosigners(temporary), policy: { tokens: capped(mint, amount) } })
    expect(scene.ruleOf(movement, told(99n))).toBe('tokens_per_transaction')
    expect(scene.ruleOf(movement, told(100n))).toBeNull()
  })

  it('minted directly into a vault is counted', async () => {
    const scene = await openScene()
    const { mint } = scene.mint(program, 0n)
    const vault = Keypair.generate()
    scene.send(opened(scene, vault, mint, POOL_AUTHORITY, scene.key, program), [scene.wallet, vault])
    const print = spl.createMintToInstruction(mint, vault.publicKey, scene.key, 100, [], program)
    expect((await scene.read([print])).tokens_out).toEqual([{ mint: text(mint), amount: 100n }])
    expect(await scene.ruleFor([print], { policy: { tokens: capped(mint, 99n) } })).toBe('tokens_per_transaction')
    expect(await scene.ruleFor([print], { policy: { tokens: capped(mint, 100n) } })).toBeNull()
  })

  it('through a stranger’s account that closes too still counts as gain', async () => {
    const scene = await openScene()
    const { mint } = scene.mint(program, 0n)
    const [vault, theirs] = [Keypair.generate(), Keypair.generate()]
    scene.send(opened(scene, vault, mint, POOL_AUTHORITY, scene.key, program), [scene.wallet, vault])
    const owner = theirs.publicKey
    const movement = await scene.read([
      ...opened(scene, theirs, mint, owner, scene.key, program),
      spl.createMintToInstruction(mint, owner, scene.key, 100, [], program),
      spl.createTransferInstruction(owner, vault.publicKey, owner, 100, [], program),
      spl.createCloseAccountInstruction(owner, scene.key, owner, [], program),
    ])
    expect(movement.err).toBeNull()
    const gain = { address: text(owner), owner: text(owner), mint: text(mint), amount: 100n, program: text(program) }
    expect(movement.destinations).toContainEqual(expect.objectContaining(gain))
    const told = { cosigners: cosigners(theirs), policy: { tokens: [] } }
    expect(scene.ruleOf(movement, told)).toBe('tokens_per_transaction')
    const listed = { cosigners: cosigners(theirs), policy: { destinations: [scene.address] } }
    expect(scene.ruleOf(movement, listed)).toBe('destination')
  })
})

function second(account: PublicKey, mint: PublicKey, owner: PublicKey, programId: PublicKey) {
  const keys = [account, mint, spl.NATIVE_MINT]
  const rent = new PublicKey('SysvarRent111111111111111111111111111111111')
  return new TransactionInstruction({
    programId,
    keys: [...keys.slice(0, 2), rent].map((pubkey, i) => ({ pubkey, isSigner: false, isWritable: i === 0 })),
    data: Buffer.concat([Buffer.from([16]), owner.toBuffer()]),
  })
}

describe('wrapped SOL through an account that opens and closes on the way', () => {
  /** Of a stranger, with the wallet as its delegate: as what a pool owes, it is moved by the wallet's signature. */
  function owed(scene: Scene, lamports: bigint) {
    const { stranger, key } = scene
    const source = ata(spl.NATIVE_MINT, stranger.publicKey)
    const approve = spl.createApproveInstruction(source, key, stranger.publicKey, lamports)
    scene.send([...wrap(stranger.publicKey, lamports), approve], [stranger])
    return source
  }

  it('is counted if it goes on to a vault', async () => {
    const scene = await openScene()
    const [vault, temporary] = [Keypair.generate(), Keypair.generate()]
    scene.send(opened(scene, vault, spl.NATIVE_MINT, POOL_AUTHORITY), [scene.wallet, vault])
    const source = owed(scene, 50n * SOL)
    const instructions = [
      ...opened(scene, temporary, spl.NATIVE_MINT, scene.key),
      spl.createTransferInstruction(source, temporary.publicKey, scene.key, 50n * SOL),
      spl.createTransferInstruction(temporary.publicKey, vault.publicKey, scene.key, 50n * SOL),
      spl.createCloseAccountInstruction(temporary.publicKey, scene.key, scene.key),
    ]
    const told = (lamports_per_transaction: bigint) => ({
      cosigners: cosigners(temporary),
      policy: { lamports_per_transaction },
    })
    expect(await scene.ruleFor(instructions, told(50n * SOL))).toBe('lamports_per_transaction')
    expect(await scene.ruleFor(instructions, told(50n * SOL + 2n * FEE))).toBeNull()
    const kept = [...instructions.slice(0, 3), instructions[4]!]
    expect(await scene.ruleFor(kept, told(2n * FEE))).toBeNull()
  })

  it('is counted if the account is closed to a stranger, with the remaining amount', async () => {
    const scene = await openScene()
    const temporary = Keypair.generate()
    const source = owed(scene, 50n * SOL)
    const movement = await scene.read([
      ...opened(scene, temporary, spl.NATIVE_MINT, scene.key),
      spl.createTransferInstruction(source, temporary.publicKey, scene.key, 50n * SOL),
      spl.createCloseAccountInstruction(temporary.publicKey, scene.stranger.publicKey, scene.key),
    ])
    expect(movement.lamports_out).toBe(50n * SOL + RENT + 2n * FEE)
    expect(movement.lamports_to_others).toBe(50n * SOL + RENT)
  })

  it('is counted once if the wallet wraps it and pays', async () => {
    const scene = await openScene()
    const to = scene.accountOf(scene.stranger, spl.NATIVE_MINT)
    const own = ata(spl.NATIVE_MINT, scene.key)
    const instructions = [
      ...wrap(scene.key, 3n * SOL),
      spl.createTransferInstruction(own, to, scene.key, 2n * SOL),
      spl.createCloseAccountInstruction(own, scene.key, scene.key),
    ]
    expect((await scene.read(instructions)).lamports_out).toBe(2n * SOL + FEE)
  })
})

it('an amount that an account sends to itself stays, whoever may take from it', async () => {
  const scene = await openScene()
  const { held } = scene.mint()
  scene.send([spl.createApproveInstruction(held, scene.stranger.publicKey, scene.key, 1)])
  const movement = await scene.read([spl.createTransferInstruction(held, held, scene.key, 10)])
  expect(movement).toMatchObject({ err: null, tokens_out: [], tokens_to_others: [], destinations: [] })
})

it('instructions in a batch of a token program are not understood', async () => {
  const scene = await openScene()
  const temporary = Keypair.generate()
  const batch = new TransactionInstruction({
    programId: TOKEN_PROGRAM_ID,
    keys: [
      { pubkey: temporary.publicKey, isSigner: false, isWritable: true },
      { pubkey: scene.key, isSigner: true, isWritable: false },
    ],
    data: Buffer.from([255, 0, 0]),
  })
  const { message } = scene.decode(scene.compile([batch]))
  const { unread } = instructionEffects(scene.address, messageInstructions(message, message.keys), new Map())
  expect(unread).toMatchObject([{ where: 'instruction 0', reason: expect.stringMatching(/batch/) }])
})

it('additional tokens do not hide who gets the lamports of a closed account', async () => {
  const scene = await openScene()
  const { mint } = scene.mint()
  const theirs = text(scene.accountOf(scene.stranger, mint))
  const account = scene.local.account(theirs)!
  const record = { lamports: SOL, owner: PROGRAMS.lock.id, data: scene.key.toBuffer(), executable: false }
  const holdings = touchedAccounts(
    scene.address,
    ['record', theirs],
    [record, account],
    [null, { ...account, lamports: account.lamports + SOL }],
    new Map(),
  )
  const sent = [{ from: 'held', to: theirs, mint: text(mint), amount: 2n * SOL }]
  const orders = { outgoing: sent, transfers: sent, closed: [], assigned: [], frozen: [], unread: [] }
  const { destinations } = balanceFlows(scene.address, holdings, orders, 0n)
  expect(accountClosings(scene.address, holdings, orders, destinations)).toMatchObject([
    { address: 'record', to: [theirs] },
  ])
})

it.skipIf(!hasProgram(PROGRAMS.dammV2.id))('a pool cannot be filled for a stranger’s position', async () => {
  const scene = await openScene({ programs: true })
  const { mint } = scene.mint(TOKEN_PROGRAM_ID, 0n)
  const [nft, temporary] = [Keypair.generate(), Keypair.generate()]
  const wrapped = scene.wrapped(10n)
  const supply = new BN('1000000000000000')
  const price = new BN('3195479000000000')
  const mode = cpAmm.CollectFeeMode.OnlyB
  const pool = await dammV2PoolAddress({ mint: text(mint) })
  const { position, positionNftAccount } = await positionAddresses(text(nft.publicKey))
  const baseFee = cpAmm.getFeeTimeSchedulerParams(100, 100, cpAmm.BaseFeeMode.FeeTimeSchedulerLinear, 0, 0)
  const liquidity = cpAmm.getLiquidityDeltaFromAmountA(supply, price, cpAmm.MAX_SQRT_PRICE, mode)
  const fill = (await sdkInstructions())(
    DAMM_V2.instruction(
      'initialize_customizable_pool',
      {
        creator: text(scene.stranger.publicKey),
        payer: scene.address,
        position,
        position_nft_mint: text(nft.publicKey),
        position_nft_account: positionNftAccount,
        pool,
        token_a_mint: text(mint),
        token_b_mint: WRAPPED_SOL,
        token_a_vault: await vaultAddress(text(mint), pool),
        token_b_vault: await vaultAddress(WRAPPED_SOL, pool),
        payer_token_a: text(temporary.publicKey),
        payer_token_b: text(wrapped),
        token_a_program: TOKEN_PROGRAM,
        token_b_program: TOKEN_PROGRAM,
      },
      {
        data: Uint8Array.from(baseFee.data),
        compounding_fee_bps: 0,
        padding: 0,
        sqrt_min_price: BigInt(price.toString()),
        sqrt_max_price: BigInt(cpAmm.MAX_SQRT_PRICE.toString()),
        has_alpha_vault: false,
        liquidity: BigInt(liquidity.toString()),
        sqrt_price: BigInt(price.toString()),
        activation_type: cpAmm.ActivationType.Timestamp,
        collect_fee_mode: mode,
      },
    ),
  )
  const movement = await scene.read([
    ...opened(scene, temporary, mint, scene.key),
    spl.createMintToInstruction(mint, temporary.publicKey, scene.key, BigInt(supply.toString())),
    fill,
    spl.createCloseAccountInstruction(temporary.publicKey, scene.key, scene.key),
  ])
  expect([movement.err, movement.logs]).toEqual([null, []])
  expect(movement.tokens_out).toEqual([{ mint: text(mint), amount: BigInt(supply.toString()) }])
  const told = { cosigners: cosigners(nft, temporary), policy: { tokens: capped(mint, 10n ** 15n - 1n) } }
  expect(scene.ruleOf(movement, told)).toBe('tokens_per_transaction')
})

describe.skipIf(!hasProgram(PROGRAMS.dammV2.id))('a list of destinations with the vaults of pools', () => {
  const listed = (...more: string[]) => ({ policy: { destinations: [text(POOL_AUTHORITY), ...more] } })
  /** The opening of a pool by the wallet, whose position belongs to the owner. */
  async function opening(owner?: PublicKey) {
    const scene = await openScene({ programs: true })
    const { mint, held } = scene.mint()
    const nft = Keypair.generate()
    const pool = await freshPool({ mint: text(mint) })
    const accounts = { tokenA: text(held), tokenB: text(scene.wrapped(SOL)) }
    const terms = { positionNft: text(nft.publicKey), feeBps: 100, creator: scene.address }
    const first = { ...FULL_RANGE, sqrtPrice: 1n << 64n, liquidity: 1_000n << 64n }
    const open = await initializePool(terms, pool, first, accounts)
    if (owner !== undefined) open.keys[0]!.pubkey = owner
    return { scene, open, nft, told: (...more: string[]) => ({ cosigners: cosigners(nft), ...listed(...more) }) }
  }

  it('permits a position that only the wallet holds, and nothing beside the rent of its mint', async () => {
    const { scene, open, nft, told } = await opening()
    expect(await scene.ruleFor([open], told())).toBeNull()
    expect(await scene.ruleFor([open], { cosigners: cosigners(nft), policy: { destinations: [] } })).toBe('destination')
    expect(await scene.ruleFor([open, scene.pay(nft.publicKey, 1n)], told())).toBe('destination')
    const { positionNftAccount } = await positionAddresses(text(nft.publicKey))
    const [at, theirs] = [new PublicKey(positionNftAccount), text(scene.stranger.publicKey)]
    const { publicKey } = scene.stranger
    const approve = spl.createApproveInstruction(at, publicKey, scene.key, 1, [], TOKEN_2022_PROGRAM_ID)
    const { destinations } = await scene.read([open, approve])
    const rent = destinations.find(({ address }) => address === text(nft.publicKey))
    expect(rent).toMatchObject({ owner: scene.address, others: [theirs] })
  })

  it('demands the holder of a position that somebody else gets', async () => {
    const stranger = Keypair.generate().publicKey
    const { scene, open, told } = await opening(stranger)
    expect(await scene.ruleFor([open], told())).toBe('destination')
    expect(await scene.ruleFor([open], told(text(stranger)))).toBeNull()
  })

  it('refuses the rent of a mint that is dressed as that of a position', async () => {
    const scene = await openScene()
    const { publicKey: position } = Keypair.generate()
    const dressed = async (owner: string, bytes = 408) => {
      const nft = Keypair.generate()
      const mint = nft.publicKey
      const data = Buffer.alloc(bytes)
      Buffer.from(DAMM_V2.firstBytesOf('position')).copy(data)
      mint.toBuffer().copy(data, 40)
      scene.local.setAccount(text(position), { lamports: SOL, owner, data, executable: false })
      const named = scene.pay(scene.key, 0n)
      named.keys.push({ pubkey: position, isSigner: false, isWritable: true })
      const extensions = [spl.ExtensionType.MintCloseAuthority]
      const space = spl.getMintLen(extensions)
      const theirs = scene.stranger.publicKey
      const create = SystemProgram.createAccount({
        ...{ fromPubkey: scene.key, newAccountPubkey: mint, space, programId: TOKEN_2022_PROGRAM_ID },
        lamports: Number(scene.local.minimumBalance(space)),
      })
      return scene.ruleFor(
        [
          create,
          spl.createInitializeMintCloseAuthorityInstruction(mint, theirs, TOKEN_2022_PROGRAM_ID),
          spl.createInitializeMint2Instruction(mint, 0, scene.key, null, TOKEN_2022_PROGRAM_ID),
          createAta(scene.key, mint, scene.key, TOKEN_2022_PROGRAM_ID),
          spl.createMintToInstruction(
            mint,
            ata(mint, scene.key, TOKEN_2022_PROGRAM_ID),
            scene.key,
            1,
            [],
            TOKEN_2022_PROGRAM_ID,
          ),
          named,
        ],
        { cosigners: cosigners(nft), ...listed() },
      )
    }
    expect(await dressed(text(scene.stranger.publicKey))).toBe('destination')
    expect(await dressed(PROGRAMS.dammV2.id, 407)).toBe('destination')
    expect(await dressed(PROGRAMS.dammV2.id)).toBe('destination')
  })

  it('permits the rent of a mint of SPL Token, which nobody can close, and no more', async () => {
    const scene = await openScene()
    const { publicKey: mint } = Keypair.generate()
    const create = SystemProgram.createAccount({
      ...{ fromPubkey: scene.key, newAccountPubkey: mint, space: spl.MINT_SIZE, programId: TOKEN_PROGRAM_ID },
      lamports: Number(scene.local.minimumBalance(spl.MINT_SIZE)),
    })
    const made = [create, spl.createInitializeMint2Instruction(mint, 6, scene.stranger.publicKey, null)]
    const told = { cosigners: [text(mint)], ...listed() }
    expect(await scene.ruleFor(made, told)).toBeNull()
    expect(await scene.ruleFor([...made, scene.pay(mint, 1n)], told)).toBe('destination')
    expect(await scene.ruleFor([create], told)).toBe('destination')
    const { mint: before } = scene.mint()
    expect(await scene.ruleFor([...made, scene.pay(before, 1n)], told)).toBe('destination')
  })
})
