/** Finds what a vault transaction would change, without waiting for its approvals and its time lock. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import type { Simulation } from '../../../api/index.ts'
import { NativeModuleFault } from '../../../platform/native-modules.ts'
import { addressBytes, addressOf } from '../../../solana/addresses.ts'
import { compileTransaction, TooMuchForVersion1 } from '../../../solana/compiling.ts'
import { MAX_TRANSACTION_BYTES } from '../../../solana/constants.ts'
import { feeOfMessage } from '../../../solana/fees.ts'
import { CLOCK_SYSVAR, RENT_SYSVAR, RUNTIME_OWNERS, SYSTEM_PROGRAM } from '../../../solana/program-ids.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import {
  addressesOf,
  approvedProposal,
  decodeMultisig,
  isWritablePlace,
  type PinnedMessage,
  squadsProposalAddress,
  squadsTransactionAddress,
  vaultTransactionData,
} from '../../../solana/squads/index.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { balanceChanges } from '../../sending/balance-changes.ts'
import { controlChanges } from '../../sending/control-states.ts'
import { accountsAt } from '../../sending/runs.ts'
import { openCopy } from '../../sending/series-rehearsal.ts'
import { simulateDecoded, withRentAndDecimals } from '../../sending/simulations.ts'
import { decodeTransaction } from '../../sending/transactions.ts'
import { withinVersion1 } from '../../sending/unsigned.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import { type Executed, executionAccounts, LARGEST_LIMITS } from './deciding.ts'
import { transactionExecute } from './program.ts'
import { checked } from './reading.ts'

export interface RehearsedExecution
  extends Pick<Simulation, 'err' | 'logs' | 'units_consumed' | 'rent' | 'balance_changes' | 'control_changes'> {
  /**
   * True if Squads itself ran the message; false if only the message ran, because a program is not in the program cache.
   */
  exact: boolean
}

/** Most bytes of accounts that are copied for a rehearsal. */
const MOST_BYTES = 16 * 1024 * 1024
/** Pays the fee of the rehearsal, so that no account of the message does. */
const PAYER = addressOf(new Uint8Array(32).fill(0xfe))
const PAYER_LAMPORTS = 10n ** 12n

/**
 * Runs the execution on a copy of its accounts, as if the proposal were approved and its time lock over. If that is not
 * possible here, the node runs the message with the vault as payer. A failed run is an answer with `err`. Throws
 * bad_request if the address has no multisig, or the node refuses the message.
 */
export async function rehearseExecution(
  node: NodeCalls,
  programsDir: string,
  executed: Executed,
): Promise<RehearsedExecution> {
  const rehearsed = await onCopy(node, programsDir, executed).catch((error: unknown) => {
    // The runtime of the embedded chain has no binary for every platform.
    if (error instanceof NativeModuleFault) return null
    throw error
  })
  return rehearsed ?? onNode(node, executed)
}

/** Null if a program is not in the program cache, or the accounts are too many or too large. */
async function onCopy(node: NodeCalls, programsDir: string, executed: Executed): Promise<RehearsedExecution | null> {
  const { multisig, index, message } = executed
  const touched = [...new Set(addressesOf(message))]
  const tables = message.lookups.map(({ table }) => table)
  const addresses = [...new Set([CLOCK_SYSVAR, RENT_SYSVAR, multisig, PROGRAMS.squads.id, ...touched, ...tables])]
  const read = await accountsAt(node, addresses)
  if (read.reduce((sum, account) => sum + (account?.data.length ?? 0), 0) > MOST_BYTES) return null
  const accounts = new Map(addresses.map((address, i) => [address, read[i] ?? null]))
  const group = accounts.get(multisig)
  const members = group ? checked(() => decodeMultisig(multisig, group), 'multisig').members : []
  const executor = members.find(({ execute }) => execute)
  if (executor === undefined) return null

  const chain = await openCopy(accounts, programsDir)
  for (const [address, account] of accounts) {
    if (account?.executable && !chain.account(address)?.executable) return null
    if (account !== null && (account.executable || RUNTIME_OWNERS.has(account.owner))) continue
    if (account !== null || chain.account(address) !== null) chain.set(address, account)
  }
  const put = (address: string, owner: string, data: Uint8Array, lamports = chain.minimumBalance(data.length)) =>
    chain.set(address, { lamports, owner, data, executable: false })
  const creator = executor.address
  put(squadsTransactionAddress(multisig, index), PROGRAMS.squads.id, vaultTransactionData({ ...executed, creator }))
  put(squadsProposalAddress(multisig, index), PROGRAMS.squads.id, approvedProposal(multisig, index, [creator]))
  put(PAYER, SYSTEM_PROGRAM, new Uint8Array(), PAYER_LAMPORTS)

  const sdk = await sdkInstructions()
  const execute = transactionExecute({ multisig, index, member: creator }, executionAccounts(executed))
  const transaction = await version1(sdk(execute))
  if (transaction === null) return null
  const written = addressesOf(message).filter((_, place) => isWritablePlace(message, place))
  const state = () => written.map((address) => chain.account(address))
  const before = state()
  const run = chain.run(transaction)
  const after = state()
  const changes = run.err === null ? balanceChanges(written, before, after) : []
  return {
    exact: true,
    err: run.err,
    logs: run.logs,
    units_consumed: Number(run.unitsConsumed),
    ...(await withRentAndDecimals(node, changes)),
    control_changes: run.err === null ? controlChanges(written, before, after, signersOf(message)) : [],
  }
}

const signersOf = ({ keys, signers }: Executed['message']) => keys.slice(0, signers)

/** The largest limits there are; null for more accounts than one transaction can lock. */
async function version1(instruction: TransactionInstruction): Promise<Uint8Array | null> {
  const { PublicKey } = await import('@solana/web3.js')
  try {
    return compileTransaction({
      payer: new PublicKey(addressBytes(PAYER)),
      recentBlockhash: SYSTEM_PROGRAM,
      instructions: [instruction],
      config: LARGEST_LIMITS,
      bytesOf: (key) => key.toBytes(),
    }).transaction
  } catch (error) {
    if (error instanceof TooMuchForVersion1) return null
    throw error
  }
}

/** The message alone, with its first signer (the vault) as payer, and without the fee that only this payer is charged. */
async function onNode(node: NodeCalls, executed: Executed): Promise<RehearsedExecution> {
  const decoded = decodeTransaction(Buffer.from(await innerTransaction(executed)).toString('base64'), 'message')
  const { err, logs, units_consumed, rent, balance_changes, control_changes, fee } = await simulateDecoded(
    node,
    decoded,
  )
  const [payer] = executed.message.keys
  const charged = fee === null ? feeOfMessage(decoded.message) : BigInt(fee)
  const changes = balance_changes.flatMap((change) => {
    if (change.address !== payer || change.mint !== null) return [change]
    const after = BigInt(change.after) + charged
    const moved = after - BigInt(change.before)
    return moved === 0n ? [] : [{ ...change, after: `${after}`, change: `${moved}` }]
  })
  return { exact: false, err, logs, units_consumed, rent, balance_changes: changes, control_changes }
}

/**
 * The message as an unsigned transaction of its own, which only a simulation can run: of version 1 if it is too large
 * for version 0. Throws bad_request if it is too large for both.
 */
export async function innerTransaction({ message }: Executed): Promise<Uint8Array> {
  const { PublicKey } = await import('@solana/web3.js')
  const [payer] = message.keys
  if (payer === undefined) throw new Error('a message has a first key')
  const request = {
    payer: new PublicKey(addressBytes(payer)),
    recentBlockhash: SYSTEM_PROGRAM,
    instructions: await innerInstructions(message),
    bytesOf: (key: PublicKey) => key.toBytes(),
  }
  const version0 = compileTransaction(request).transaction
  if (version0.length <= MAX_TRANSACTION_BYTES) return version0
  const config = { ...LARGEST_LIMITS, heapSize: null }
  return withinVersion1(() => compileTransaction({ ...request, config }).transaction)
}

/** Their accounts sign and are written as in the message. */
export async function innerInstructions(message: PinnedMessage): Promise<TransactionInstruction[]> {
  const { PublicKey, TransactionInstruction } = await import('@solana/web3.js')
  const keys = addressesOf(message).map((address) => new PublicKey(addressBytes(address)))
  const keyAt = (place: number) => {
    const key = keys[place]
    if (key === undefined) throw new Error(`the message has no account ${place}`)
    return key
  }
  return message.instructions.map(
    ({ programIdIndex, accounts, data }) =>
      new TransactionInstruction({
        programId: keyAt(programIdIndex),
        keys: [...accounts].map((place) => ({
          pubkey: keyAt(place),
          isSigner: place < message.signers,
          isWritable: isWritablePlace(message, place),
        })),
        data: Buffer.from(data),
      }),
  )
}
