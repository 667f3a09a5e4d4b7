/** Tries guards: a transaction that keeps to them lands, and one that breaks what they say is stopped, for each thing said. */

import { tokenAccountAddress } from '../../src/chain/programs/merkle-distributor/index.ts'
import { requireProgram } from '../../src/chain/programs/required-program.ts'
import { readLatestBlockhash } from '../../src/chain/reads/rpc-reads.ts'
import { addressBytes } from '../../src/solana/addresses.ts'
import { compileTransaction } from '../../src/solana/compiling.ts'
import {
  type Guard,
  lamportsFloor,
  type TokenGuard,
  tokenGuard,
  type WalletGuard,
  withGuards,
} from '../../src/solana/guards.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { SYSTEM } from '../../src/solana/programs/system.ts'
import type { PlainInstruction } from '../../src/solana/programs/table.ts'
import { TOKEN } from '../../src/solana/programs/token.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { type FreshKey, freshKey } from '../../src/solana/signatures.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { SOL, type Stage } from './stage.ts'

/** Raw units. */
const SUPPLY = 1_000n
const SENT = 10n
/** Kinds of `setAuthority` of a token account. */
const [OWNER, CLOSE] = [2, 3]
/** Places of what a guard asserts, from the end: the change before the state, and the memory is closed last. */
const [CHANGE, STATE] = [3, 2]

export async function playGuards(stage: Stage): Promise<void> {
  const { act, node, land, stop } = stage
  const [payer, owner, other] = [stage.wallet(), stage.wallet(), stage.wallet()]
  const mint = freshKey().address
  await stage.setToken(mint, owner.address, SUPPLY)

  const guarded = async (guard: Guard, instruction: PlainInstruction) =>
    withGuards(await compiled(stage, payer, instruction), [guard])
  const passes = async (guard: Guard, instruction: PlainInstruction) =>
    land(Buffer.from(await guarded(guard, instruction)).toString('base64'), payer, owner)
  const isStopped = async (guard: Guard, instruction: PlainInstruction, fromEnd: number) => {
    const transaction = await guarded(guard, instruction)
    stop(transaction, decodeWireTransaction(transaction).message.instructions.length - fromEnd, payer, owner)
  }

  await act('guard a wallet', [], async () => {
    await requireProgram(node, PROGRAMS.lighthouse)
    const { address } = owner
    const send = SYSTEM.instruction('transfer', { source: address, destination: other.address }, { lamports: SOL })
    const guard: WalletGuard = { kind: 'wallet', address, change: -SOL }
    await passes(guard, send)
    await isStopped({ ...guard, change: 1n - SOL }, send, CHANGE)
    await isStopped(guard, SYSTEM.instruction('allocate', { account: address }, { space: 1n }), STATE)
    await isStopped(guard, SYSTEM.instruction('assign', { account: address }, { owner: PROGRAMS.lock.id }), STATE)
    const floor = (lamports: bigint) => compiled(stage, payer, lamportsFloor(address, lamports))
    land(Buffer.from(await floor(1n)).toString('base64'), payer)
    stop(await floor(MAX_U64), 0, payer)
  })
  await act('guard a token account', [], async () => {
    await requireProgram(node, PROGRAMS.lighthouse)
    const [account, by] = [tokenAccountAddress(mint, owner.address), { authority: owner.address }]
    const send = TOKEN.instruction('burn', { account, mint, ...by, signers: [] }, { amount: SENT })
    const guard = tokenGuard(account, { change: -SENT })
    await passes(guard, send)
    await isStopped({ ...guard, change: 1n - SENT }, send, CHANGE)
    const at = { ...by, signers: [] }
    const delegated = TOKEN.instruction('approve', { source: account, delegate: other.address, ...at }, { amount: 1n })
    await isStopped(guard, delegated, STATE)
    for (const kind of [OWNER, CLOSE]) {
      const given = TOKEN.instruction('setAuthority', { account, ...at }, { kind, newAuthority: other.address })
      await isStopped(guard, given, STATE)
    }
    // As it is for an account that is not an associated one, and has a delegate.
    const named: TokenGuard = { ...guard, owner: owner.address, mint, delegate: other.address, delegated: 1n }
    await passes(named, delegated)
    await isStopped({ ...named, delegated: 0n }, delegated, STATE)
    await isStopped({ ...named, mint: other.address }, delegated, STATE)
  })
}

async function compiled({ node }: Stage, payer: FreshKey, instruction: PlainInstruction): Promise<Uint8Array> {
  const { blockhash: recentBlockhash } = await readLatestBlockhash(node)
  const { program, accounts, data } = instruction
  const keys = accounts.map(({ address: pubkey, ...use }) => ({ pubkey, ...use }))
  const instructions = [{ programId: program, keys, data }]
  return compileTransaction({ payer: payer.address, recentBlockhash, instructions, bytesOf: addressBytes }).transaction
}
