/** Attacks between simulation and landing, on the real programs: each takes more without guards, and fails with them. */
import { DynamicBondingCurveClient, SwapMode } from '@meteora-ag/dynamic-bonding-curve-sdk'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import BN from 'bn.js'
import { describe, expect, it } from 'vitest'
import { guardedTransaction } from '../../src/chain/sending/guarding.ts'
import type { LandedTransaction, LocalChain } from '../../src/localnet/types.ts'
import type { ChainAccount } from '../../src/solana/accounts.ts'
import { PROGRAMS, SQUADS_SETTINGS } from '../../src/solana/programs.ts'
import { createMint, type Extension, give, lamportsOf, run, tokenAccountOf, unitsIn } from '../support/gold.ts'
import { IMAGE, keysIn, landOn, tinyCurveSettings } from '../support/launches.ts'
import { isoOf, locksOn } from '../support/locks.ts'
import { web3Over } from '../support/node.ts'
import { hasProgram } from '../support/programs.ts'
import { TOKEN_ACCOUNT_RENT } from '../support/rent.ts'
import { itInSoak } from '../support/runs.ts'
import { callingProgram, idleProgram, putProgram } from '../support/sbf-program.ts'
import { sharedService } from '../support/service.ts'
import { addressOf, SOL, signWith, someAddress } from '../support/wallets.ts'

const { dbc, lock, lighthouse, squads, tokenMetadata } = PROGRAMS
const lacking = [dbc, lock, lighthouse, squads, tokenMetadata].filter(({ id }) => !hasProgram(id))
const needs = `(needs ${lacking.map(({ name }) => name).join(', ')})`

const settings = { ...tinyCurveSettings(), 'priority-fee': 'none', 'platform-wallet': someAddress() }
const shared = sharedService({ settings })
const chainOf = async () => (await shared()).services.chain.local()

type Guard = 'off' | 'required'

interface Attack {
  /** Whoever signs; the first one is robbed, and pays the fee. */
  signers: Keypair[]
  /** The transaction as the victim has simulated it. */
  build(guard: Guard): Promise<string>
  /** What happens until it lands. */
  meanwhile(): void
  /** Undoes what other scenes would notice. */
  restore?(): void
  /** What the victim has of what the attack is after. */
  held(): bigint | string
}

const post = async (path: string, body: object) => {
  const { status, json, text } = await (await shared()).request('POST', path, { body })
  expect(status, text).toBeLessThan(300)
  return json.data
}
/** A swap has its transaction with the quote. */
const transactionOf = (data: { transaction?: string; tx?: { transaction: string } }): string =>
  (data.tx ?? (data as { transaction: string })).transaction

const built =
  (path: string, body: object) =>
  async (guard: Guard): Promise<string> =>
    transactionOf(await post(path, { ...body, guard }))

const funded = (chain: LocalChain, lamports = 100n * SOL) => {
  const key = Keypair.generate()
  chain.airdrop(addressOf(key), lamports)
  return key
}

/** Lands it, with success or an error. */
function landed(chain: LocalChain, transaction: string, signers: Keypair[]): LandedTransaction {
  chain.advance(1)
  return chain.send(Buffer.from(signWith(transaction, signers), 'base64'))
}

interface Course {
  guard: Guard
  isAttacked: boolean
}

/** Builds, lets the attack happen, and lands. */
async function play(open: () => Promise<Attack>, { guard, isAttacked }: Course) {
  const chain = await chainOf()
  const attack = await open()
  const transaction = await attack.build(guard)
  if (isAttacked) attack.meanwhile()
  const wallet = attack.signers[0]!.publicKey
  const before = { held: attack.held(), lamports: lamportsOf(chain, wallet) }
  const result = landed(chain, transaction, attack.signers)
  attack.restore?.()
  const after = { held: attack.held(), lamports: lamportsOf(chain, wallet) }
  return { ...result, before, after }
}

/** What it costs without the attack, with it, and with it if there are guards: then only the fee. */
async function outcomes(open: () => Promise<Attack>) {
  const usual = await play(open, { guard: 'required', isAttacked: false })
  expect(usual.err, usual.logs.join('\n')).toBeNull()
  const robbed = await play(open, { guard: 'off', isAttacked: true })
  expect(robbed.err, robbed.logs.join('\n')).toBeNull()
  const saved = await play(open, { guard: 'required', isAttacked: true })
  expect(saved.err, saved.logs.join('\n')).not.toBeNull()
  expect(saved.logs.join('\n')).toMatch(new RegExp(`Program ${lighthouse.id} failed: custom program error`))
  expect(saved.before.lamports - saved.after.lamports, 'only the fee is lost').toBe(saved.fee)
  return { usual, robbed, saved }
}

/** The same for an amount: `held` is a number. */
async function losses(open: () => Promise<Attack>) {
  const { usual, robbed, saved } = await outcomes(open)
  const lossOf = ({ before, after }: typeof usual) => (before.held as bigint) - (after.held as bigint)
  return { usual: lossOf(usual), robbed: lossOf(robbed), saved: lossOf(saved), fee: saved.fee }
}

/** A launch curve, a wallet that trades on it, and another whose trades move the price. */
async function curve() {
  const chain = await chainOf()
  const [creator, trader, mover] = [funded(chain), funded(chain), funded(chain)]
  const texts = { name: 'My Token', symbol: `T${Math.random().toString(36).slice(2, 8)}`.toUpperCase(), image: IMAGE }
  const launch = await post('/v2/pools', { creator: addressOf(creator), ...texts })
  for (const text of launch.transactions) landOn(chain, text, [creator, ...keysIn(launch.required_signers)])
  const { address, base_mint } = launch.pool
  const path = `/v2/pools/${address}/swaps`
  const swap = (by: Keypair, side: 'buy' | 'sell', amount: bigint) => ({
    ...{ payer: addressOf(by), side, amount: String(amount), slippage_bps: 10_000 },
  })
  const tokens = (by: Keypair) => spl.getAssociatedTokenAddressSync(new PublicKey(base_mint), by.publicKey)
  return {
    ...{ chain, trader, mover, address, tokens },
    held: (by: Keypair) => unitsIn(chain, tokens(by)) ?? 0n,
    build: (by: Keypair, side: 'buy' | 'sell', amount: bigint) => built(path, swap(by, side, amount)),
    async trade(by: Keypair, side: 'buy' | 'sell', amount: bigint) {
      landOn(chain, transactionOf(await post(path, swap(by, side, amount))), [by])
    },
  }
}

/** The accounts of the program's own instruction in a built transaction. */
function accountsOf(transaction: string, program: string): string[] {
  const { message } = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
  const { instructions } = TransactionMessage.decompile(message)
  const called = instructions.find(({ programId }) => programId.toBase58() === program)
  return called!.keys.map(({ pubkey }) => pubkey.toBase58())
}

/** Replaces a program of the chain by another build, and puts it back. */
function replacing(chain: LocalChain, id: string) {
  const genuine = chain.account(id) as ChainAccount
  return {
    upgrade: (elf: Uint8Array) => void putProgram(chain, elf, new PublicKey(id)),
    restore: () => chain.setAccount(id, genuine),
  }
}

describe.skipIf(lacking.length > 0)(`a transaction ${needs}`, () => {
  itInSoak('that buys an exact amount for a vault pays no more for it after others have bought', async () => {
    const found = await losses(async () => {
      const { chain, mover, address, build } = await curve()
      const { member, vault, execution } = await vaultOn(chain)
      const push = await build(mover, 'buy', SOL / 2n)('off')
      const client = new DynamicBondingCurveClient(web3Over((await shared()).services.chain), 'confirmed')
      const order = {
        swapMode: SwapMode.ExactOut,
        amountOut: new BN(10 ** 11),
        // Far more than it costs, as if the price did not matter.
        maximumAmountIn: new BN(String(5n * SOL)),
      } as const
      const accounts = { owner: vault, payer: vault, pool: new PublicKey(address), referralTokenAccount: null }
      const { instructions } = await client.pool.swap2({ ...accounts, swapBaseForQuote: false, ...order })
      return {
        signers: [member],
        build: await execution(instructions),
        meanwhile: () => expect(landed(chain, push, [mover]).err).toBeNull(),
        held: () => lamportsOf(chain, vault),
      }
    })
    expect(found.robbed).toBeGreaterThan(found.usual + SOL / 20n)
    expect(found.saved).toBe(0n)
  })

  itInSoak('that calls a transfer hook for a vault pays nothing more when the hook turns', async () => {
    const found = await losses(hooked)
    expect([found.usual, found.robbed, found.saved]).toEqual([0n, SOL, 0n])
  })

  it('that fills an account of a vault does not fill one that was closed and opened again for another', async () => {
    const { robbed, saved } = await outcomes(reopened)
    expect([robbed.before.held, robbed.after.held]).toEqual([1_000n, 0n])
    expect(saved.after.held).toBe(1_000n)
  })

  it.each([
    ['a delegate', 72, () => Buffer.concat([Buffer.of(4), Buffer.alloc(8, 0xff)])],
    ['a close authority', 129, (to: PublicKey) => Buffer.concat([Buffer.of(6, 3, 1), to.toBytes()])],
    ['another owner', 32, (to: PublicKey) => Buffer.concat([Buffer.of(6, 2, 1), to.toBytes()])],
  ] as const)('whose program sets %s by a call of its own gives nobody power', async (_, at, dataOf) => {
    const { robbed, saved } = await outcomes(async () => {
      const scene = await locksOn(await shared())
      const { creator, recipient, gold, chain } = scene
      const { upgrade, restore } = replacing(chain, lock.id)
      // Places of its accounts: 5 is the sender's token account, 6 the recipient, 4 the sender, 7 the token program.
      const [source, owner] = [
        { place: 5, isWritable: true },
        { place: 4, isSigner: true },
      ]
      const data = dataOf(recipient.publicKey)
      const metas = data[0] === 4 ? [source, { place: 6 }, owner] : [source, owner]
      const account = tokenAccountOf(gold, creator.publicKey)
      const holder = () => {
        const { data: bytes } = chain.account(account.toBase58())!
        return new PublicKey(bytes.subarray(at + (at === 32 ? 0 : 4), at + (at === 32 ? 32 : 36))).toBase58()
      }
      const start = isoOf(scene.now() + 100)
      const terms = { starts_at: start, cliff_at: start, periods: 10, frequency: 1_000 }
      const body = {
        payer: addressOf(creator),
        mint: scene.mint,
        recipient: addressOf(recipient),
        amount: '1000',
        ...terms,
      }
      return {
        signers: [creator],
        build: built('/v2/locks', body),
        meanwhile: () => upgrade(callingProgram({ accounts: 11, program: 7, metas, data })),
        restore,
        held: () => (holder() === addressOf(recipient) ? 'the other' : 'its own'),
      }
    })
    expect([robbed.before.held, robbed.after.held, saved.after.held]).toEqual(['its own', 'the other', 'its own'])
  })

  it('whose program lets a delegate take more than before gives it nothing', async () => {
    const { robbed, saved } = await outcomes(async () => {
      const scene = await locksOn(await shared())
      const { creator, recipient, gold, chain } = scene
      const { upgrade, restore } = replacing(chain, lock.id)
      const account = tokenAccountOf(gold, creator.publicKey)
      const power = spl.createApproveInstruction(account, recipient.publicKey, creator.publicKey, 10n)
      expect(run(chain, [power], [creator]).err).toBeNull()
      const metas = [{ place: 5, isWritable: true }, { place: 6 }, { place: 4, isSigner: true }]
      const data = Buffer.concat([Buffer.of(4), Buffer.alloc(8, 0xff)])
      const body = {
        ...{ payer: addressOf(creator), mint: scene.mint, recipient: addressOf(recipient), amount: '1000' },
        ...{ starts_at: isoOf(scene.now() + 100), cliff_at: isoOf(scene.now() + 100), periods: 10, frequency: 1_000 },
      }
      return {
        signers: [creator],
        build: built('/v2/locks', body),
        meanwhile: () => upgrade(callingProgram({ accounts: 11, program: 7, metas, data })),
        restore,
        held: () => Buffer.from(chain.account(account.toBase58())!.data).readBigUInt64LE(121),
      }
    })
    expect([robbed.before.held, robbed.after.held, saved.after.held]).toEqual([10n, 2n ** 64n - 1n, 10n])
  })

  it('whose programs close an account of the wallet and fill it with worthless tokens leaves it as it was', async () => {
    const { robbed, saved } = await outcomes(exchanged)
    expect([robbed.before.held, robbed.after.held, saved.after.held]).toEqual([500n, 0n, 500n])
  })

  it('whose program takes more after an upgrade loses nothing', async () => {
    const found = await losses(async () => {
      const scene = await curve()
      const { chain, trader } = scene
      await scene.trade(trader, 'buy', SOL / 2n)
      const all = scene.held(trader)
      const { upgrade, restore } = replacing(chain, dbc.id)
      const build = scene.build(trader, 'sell', all / 10n)
      const accounts = accountsOf(await build('off'), dbc.id)
      const at = (address: string) => accounts.indexOf(address)
      const [from, program] = [scene.tokens(trader).toBase58(), spl.TOKEN_PROGRAM_ID.toBase58()]
      const vault = accounts.find((address) => address !== from && isVault(chain, address, scene.tokens(trader)))!
      const amount = Buffer.alloc(9, 3)
      amount.writeBigUInt64LE(all, 1)
      const metas = [
        ...[from, vault].map((address) => ({ place: at(address), isWritable: true })),
        { place: at(addressOf(trader)), isSigner: true },
      ]
      const taking = { accounts: accounts.length, program: at(program), metas, data: amount }
      return {
        signers: [trader],
        build,
        meanwhile: () => upgrade(callingProgram(taking)),
        restore,
        held: () => scene.held(trader),
      }
    })
    expect(found.robbed).toBeGreaterThan(9n * found.usual)
    expect(found.saved).toBe(0n)
  })

  it('that pays a fee of a program does not pay more after it is raised', async () => {
    const found = await losses(async () => {
      const chain = await chainOf()
      const payer = funded(chain)
      const before = chain.account(SQUADS_SETTINGS) as ChainAccount
      const raised = Buffer.from(before.data)
      raised.writeBigUInt64LE(SOL, 8 + 32)
      const members = [payer, Keypair.generate()].map((key) => ({ address: addressOf(key) }))
      return {
        signers: [payer],
        build: built('/v2/multisigs', { payer: addressOf(payer), members, threshold: 1 }),
        meanwhile: () => chain.setAccount(SQUADS_SETTINGS, { ...before, data: raised }),
        restore: () => chain.setAccount(SQUADS_SETTINGS, before),
        held: () => lamportsOf(chain, payer.publicKey),
      }
    })
    expect([found.robbed - found.usual, found.saved]).toEqual([SOL, found.fee])
  })
})

/** Whether a token account has the mint of another one. */
function isVault(chain: LocalChain, address: string, other: PublicKey): boolean {
  const [data, known] = [address, other.toBase58()].map((each) => chain.account(each)?.data)
  return data?.length === 165 && Buffer.from(data.subarray(0, 32)).equals(known!.subarray(0, 32))
}

/** A multisig of one member, whose vault has SOL and does what other clients have built. */
async function vaultOn(chain: LocalChain) {
  const member = funded(chain)
  const decider = addressOf(member)
  const make = { payer: decider, members: [{ address: decider }], threshold: 1 }
  const { transaction, multisig, vault: address } = await post('/v2/multisigs', make)
  landOn(chain, transaction, [member])
  chain.airdrop(address, 100n * SOL)
  const vault = new PublicKey(address)
  /** Proposes and approves the instructions, and answers how their execution is built. */
  const execution = async (instructions: TransactionMessage['instructions']) => {
    const message = new TransactionMessage({ payerKey: vault, recentBlockhash: address, instructions })
    const wire = new VersionedTransaction(message.compileToV0Message()).serialize()
    const approver = { kind: 'squads', multisig, member: decider }
    const given = { transaction: Buffer.from(wire).toString('base64'), approver }
    const { proposal } = await post('/v2/proposals', given)
    for (const text of proposal.transactions) landOn(chain, text, [member])
    const path = `/v2/proposals/${proposal.id}`
    landOn(chain, (await post(`${path}/approvals`, { member: decider })).transaction, [member])
    return built(`${path}/executions`, { member: decider })
  }
  return { member, vault, execution }
}

/** Writes into the data of an account. */
function patch(chain: LocalChain, key: PublicKey, at: number, bytes: Uint8Array): void {
  const account = chain.account(key.toBase58()) as ChainAccount
  const data = Buffer.from(account.data)
  data.set(bytes, at)
  chain.setAccount(key.toBase58(), { ...account, data })
}

/** An address of a token account that is optional, as its data has it. */
const someone = (key: PublicKey): Buffer => Buffer.concat([Buffer.of(1, 0, 0, 0), key.toBytes()])
const [DELEGATE_AT, DELEGATED_AT, CLOSE_AUTHORITY_AT] = [72, 121, 129]

/** First bytes of a hook's accounts, the hash of `spl-transfer-hook-interface:execute`. */
const EXECUTE = Buffer.from('692565c54bfb661a', 'hex')

/**
 * A hook that charges in wrapped SOL, for which the sender made its address a delegate, as hooks with a fee demand. A
 * hook cannot use the signature of the sender. svc builds no transfer of such a mint, but a vault may do one.
 */
async function hooked(): Promise<Attack> {
  const chain = await chainOf()
  const { member, vault, execution } = await vaultOn(chain)
  const [recipient, thief] = [funded(chain), funded(chain)]
  const hook = putProgram(chain, idleProgram())
  const [delegate, seed] = PublicKey.findProgramAddressSync([], hook)
  const [wrapped, sink] = [vault, thief.publicKey].map((owner) => {
    const account = spl.getAssociatedTokenAddressSync(spl.NATIVE_MINT, owner, true)
    const open = spl.createAssociatedTokenAccountInstruction(thief.publicKey, account, owner, spl.NATIVE_MINT)
    const pay = SystemProgram.transfer({ fromPubkey: thief.publicKey, toPubkey: account, lamports: 5n * SOL })
    expect(run(chain, [open, pay, spl.createSyncNativeInstruction(account)], [thief]).err).toBeNull()
    return account
  }) as [PublicKey, PublicKey]
  patch(chain, wrapped, DELEGATE_AT, someone(delegate))
  patch(chain, wrapped, DELEGATED_AT, Buffer.alloc(8, 0x7f))
  const program = spl.TOKEN_2022_PROGRAM_ID
  const extension: Extension = {
    type: spl.ExtensionType.TransferHook,
    initialize: (mint, of, by) => spl.createInitializeTransferHookInstruction(mint, by, hook, of),
  }
  const token = createMint(chain, thief, { program, extensions: [extension] })
  const from = give(chain, thief, token, vault, 100n)
  const to = give(chain, thief, token, recipient.publicKey, 1n)
  const asked = [wrapped, sink, delegate, spl.TOKEN_PROGRAM_ID].map((pubkey, i) => ({
    ...{ pubkey, isSigner: false, isWritable: i < 2 },
  }))
  const rows = asked.flatMap(({ pubkey, isWritable }) => [0, ...pubkey.toBytes(), 0, Number(isWritable)])
  const data = Buffer.from([...EXECUTE, 4 + rows.length, 0, 0, 0, asked.length, 0, 0, 0, ...rows])
  const list = spl.getExtraAccountMetaAddress(token.mint, hook)
  chain.setAccount(list.toBase58(), { lamports: SOL, owner: hook.toBase58(), data, executable: false })
  const transfer = spl.createTransferCheckedInstruction(from, token.mint, to, vault, 10n, 9, [], program)
  transfer.keys.push(...asked, ...[hook, list].map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })))
  // Source, mint, destination, owner, the list, and what it asks for.
  const metas = [
    { place: 5, isWritable: true },
    { place: 6, isWritable: true },
    { place: 7, isSigner: true },
  ]
  const { data: payment } = spl.createTransferInstruction(wrapped, sink, delegate, SOL)
  return {
    signers: [member],
    build: await execution([transfer]),
    meanwhile: () =>
      void putProgram(chain, callingProgram({ accounts: 9, program: 8, metas, data: payment, seed }), hook),
    held: () => unitsIn(chain, wrapped)!,
  }
}

/** A vault moves tokens between two accounts of its own, and the close authority of the second is somebody else. */
async function reopened(): Promise<Attack> {
  const chain = await chainOf()
  const { member, vault, execution } = await vaultOn(chain)
  const [thief, second] = [funded(chain), Keypair.generate()]
  const token = createMint(chain, thief)
  const first = give(chain, thief, token, vault, 1_000n)
  const opening = (payer: Keypair, owner: PublicKey) => [
    SystemProgram.createAccount({
      fromPubkey: payer.publicKey,
      newAccountPubkey: second.publicKey,
      space: spl.ACCOUNT_SIZE,
      lamports: Number(TOKEN_ACCOUNT_RENT),
      programId: token.program,
    }),
    spl.createInitializeAccount3Instruction(second.publicKey, token.mint, owner),
  ]
  expect(run(chain, opening(thief, vault), [thief, second]).err).toBeNull()
  patch(chain, second.publicKey, CLOSE_AUTHORITY_AT, someone(thief.publicKey))
  const move = spl.createTransferInstruction(first, second.publicKey, vault, 1_000n)
  return {
    signers: [member],
    build: await execution([move]),
    meanwhile() {
      const close = spl.createCloseAccountInstruction(second.publicKey, thief.publicKey, thief.publicKey)
      expect(run(chain, [close], [thief]).err).toBeNull()
      expect(run(chain, opening(thief, thief.publicKey), [thief, second]).err).toBeNull()
    },
    held() {
      const owned = [first, second.publicKey].filter((account) => {
        const { data } = chain.account(account.toBase58())!
        return Buffer.from(data.subarray(32, 64)).equals(vault.toBytes())
      })
      return owned.reduce((sum, account) => sum + (unitsIn(chain, account) ?? 0n), 0n)
    },
  }
}

/** Whose address is derived from the wallet, so that its signature alone can open it. */
async function seeded(wallet: Keypair): Promise<{ address: PublicKey; seed: string }> {
  const seed = 'savings'
  return { seed, address: await PublicKey.createWithSeed(wallet.publicKey, seed, spl.TOKEN_PROGRAM_ID) }
}

/** A transaction that svc does not build, with guards as every build gets them. */
async function guarded(payer: Keypair, guard: Guard, instructions: TransactionMessage['instructions']) {
  const { chain } = (await shared()).services
  const recentBlockhash = (await chain.local()).latestBlockhash().blockhash
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions })
  const transaction = new VersionedTransaction(message.compileToV0Message()).serialize()
  if (guard === 'off') return Buffer.from(transaction).toString('base64')
  const answer = await guardedTransaction(chain, transaction, [addressOf(payer)])
  expect(answer.guarding).toMatchObject({ reason: null })
  return Buffer.from(answer.transaction).toString('base64')
}

/** Five programs turn: they empty an account of the wallet, close it, and open it again for another mint. */
async function exchanged(): Promise<Attack> {
  const chain = await chainOf()
  const [wallet, thief] = [funded(chain), funded(chain)]
  const [token, worthless] = [createMint(chain, wallet), createMint(chain, thief)]
  const programs = Array.from({ length: 5 }, () => putProgram(chain, idleProgram()))
  const helpers = programs.map((program) => PublicKey.findProgramAddressSync([], program))
  const [[payer], [giver]] = [helpers[2]!, helpers[4]!]
  chain.airdrop(payer.toBase58(), SOL)
  const { seed, address } = await seeded(wallet)
  const basis = { newAccountPubkey: address, basePubkey: wallet.publicKey, seed, space: spl.ACCOUNT_SIZE }
  const place = { ...basis, lamports: Number(TOKEN_ACCOUNT_RENT), programId: token.program }
  const opening = (fromPubkey: PublicKey, mint: PublicKey) => [
    SystemProgram.createAccountWithSeed({ ...place, fromPubkey }),
    spl.createInitializeAccount3Instruction(address, mint, wallet.publicKey),
  ]
  expect(run(chain, opening(wallet.publicKey, token.mint), [wallet]).err).toBeNull()
  const source = give(chain, wallet, token, wallet.publicKey, 500n)
  const fill = spl.createTransferInstruction(source, address, wallet.publicKey, 500n)
  expect(run(chain, [fill], [wallet]).err).toBeNull()
  const sink = give(chain, wallet, token, thief.publicKey, 1n)
  const dross = give(chain, thief, worthless, giver, 500n)
  const calls = [
    spl.createTransferInstruction(address, sink, wallet.publicKey, 500n),
    spl.createCloseAccountInstruction(address, thief.publicKey, wallet.publicKey),
    ...opening(payer, worthless.mint),
    spl.createTransferInstruction(dross, address, giver, 500n),
  ]
  const outer = calls.map(({ keys, programId }, i) => ({
    programId: programs[i]!,
    keys: [
      ...keys.map((key) => ({ ...key, isSigner: key.pubkey.equals(wallet.publicKey) })),
      { pubkey: programId, isSigner: false, isWritable: false },
    ],
    data: Buffer.alloc(0),
  }))
  return {
    signers: [wallet],
    build: (guard) => guarded(wallet, guard, outer),
    meanwhile() {
      for (const [i, { keys, data }] of calls.entries()) {
        const metas = keys.map(({ isSigner, isWritable }, at) => ({ place: at, isSigner, isWritable }))
        const call = { accounts: keys.length + 1, program: keys.length, metas, data, seed: helpers[i]![1] }
        putProgram(chain, callingProgram(call), programs[i])
      }
    },
    held() {
      const { data } = chain.account(address.toBase58())!
      return token.mint.equals(new PublicKey(data.subarray(0, 32))) ? Buffer.from(data).readBigUInt64LE(64) : 0n
    },
  }
}
