/** Wrapper of LiteSVM: accounts, the clock, and execution of transactions that were already decoded and checked. */
import type { Account, EpochSchedule, LiteSvm, TransactionMetadata } from 'litesvm/dist/internal.js'
import type { ChainAccount, DatedAccount } from '../solana/accounts.ts'
import { addressBytes, addressOf, byteKey } from '../solana/addresses.ts'
import type { Rent } from '../solana/cluster-settings.ts'
import { BLOCKHASH_SLOTS } from '../solana/constants.ts'
import type { Execution, InnerInstructions } from '../solana/execution.ts'
import { LAMPORTS_PER_SIGNATURE } from '../solana/fees.ts'
import type { DecodedTransaction } from '../solana/messages.ts'
import {
  BUILT_IN_OWNERS,
  RECENT_BLOCKHASHES_SYSVAR,
  SLOT_HASHES_SYSVAR,
  SYSTEM_PROGRAM,
  SYSVAR_OWNER,
} from '../solana/program-ids.ts'
import { LOADER } from '../solana/programs/upgradeable-loader.ts'
import { MAX_U64 } from '../solana/u64.ts'
import { type Blockhashes, SlotHashes } from './blockhashes.ts'
import { GENESIS_SLOT, SLOTS_PER_EPOCH, type SlotClock, type Tick } from './clock.ts'
import type { JournaledAccount } from './journal.ts'
import { newRuntime } from './new-runtime.ts'
import { transactionErrorJson } from './transaction-errors.ts'

/** Type of the native module; the package's own wrapper would decode and encode every transaction and address again. */
type Native = typeof import('litesvm/dist/internal.js')

const DEFAULT_RENT_EPOCH = MAX_U64

/** A program that is verified and compiled at its first use. */
interface UnusedProgram {
  id: string
  /** Its known addresses: its id, and the account with its bytes. */
  addresses: readonly string[]
  add(): void
}

export class Runtime {
  /** Whether a run needs valid signatures. */
  readonly sigVerify: boolean
  readonly #native: Native
  readonly #svm: LiteSvm
  readonly #clock: SlotClock
  readonly #slotHashes: SlotHashes
  readonly #blockhashes: Blockhashes
  /** Rent epochs that files of accounts name; a transaction that writes the account sets its own. */
  readonly #rentEpochs = new Map<string, bigint>()
  /** The programs that were not used yet, by each of their addresses. */
  readonly #unused = new Map<string, UnusedProgram>()
  readonly #faults = new Map<string, string>()
  /** Transactions whose signatures a run has checked. Decoded transactions are never modified. */
  readonly #verified = new WeakSet<DecodedTransaction>()
  #onLoad: (address: string, account: ChainAccount) => void = () => undefined
  #slot = -1

  constructor(native: Native, clock: SlotClock, blockhashes: Blockhashes, rent: Rent, sigVerify = true) {
    this.sigVerify = sigVerify
    this.#native = native
    this.#clock = clock
    this.#slotHashes = new SlotHashes(blockhashes)
    this.#blockhashes = blockhashes
    const { svm, programs } = newRuntime(native)
    this.#svm = svm
    this.#svm.setBlockhashCheck(false)
    this.#svm.setTransactionHistory(0n)
    this.#svm.setRent(new native.Rent(rent.lamportsPerByte, rent.exemptionThreshold, rent.burnPercent))
    const slots = BigInt(SLOTS_PER_EPOCH)
    const schedule: EpochSchedule = new native.EpochSchedule(slots, slots, false, 0n, 0n)
    this.#svm.setEpochSchedule(schedule)
    for (const accounts of programs) this.#addDefault(accounts)
  }

  /**
   * Returns the addresses of the accounts of a new runtime, including sysvars and built-in programs, but without the
   * unused programs. They are the same for every runtime, and are read from the first, which must be new.
   */
  builtInAddresses(): readonly string[] {
    builtIn ??= BUILT_IN_OWNERS.flatMap((owner) =>
      this.#svm.getProgramAccounts(addressBytes(owner)).map(({ address }) => addressOf(address)),
    )
    return builtIn
  }

  /** Returns the known addresses of the programs that were not used yet. */
  unusedAddresses(): readonly string[] {
    return [...this.#unused.keys()]
  }

  /** Returns a program's accounts by scanning all accounts, which is slow; the index serves the chain's own queries. */
  ownedBy(program: string): (readonly [string, ChainAccount])[] {
    return this.#svm
      .getProgramAccounts(addressBytes(program))
      .map((found) => [addressOf(found.address), toChainAccount(found.account())] as const)
  }

  get(address: string): DatedAccount | null {
    this.load([address])
    const native = this.#svm.getAccount(addressBytes(address))
    if (native === null) return null
    const account = this.#asOnValidator(address, toChainAccount(native))
    const filed = this.#rentEpochs.get(address)
    return filed === undefined || native.rentEpoch() !== filed ? account : { ...account, rentEpoch: filed }
  }

  /** The runtime gives sysvars one lamport, and keeps no recent blockhashes; a validator has both. */
  #asOnValidator(address: string, account: ChainAccount): ChainAccount {
    if (account.owner !== SYSVAR_OWNER) return account
    const data = address === RECENT_BLOCKHASHES_SYSVAR ? this.#recentBlockhashes() : account.data
    return { ...account, data, lamports: this.minimumBalance(data.length) }
  }

  /** Data of the RecentBlockhashes sysvar: the newest first, each with the fee of a signature. */
  #recentBlockhashes(): Uint8Array {
    const data = Buffer.alloc(8 + BLOCKHASH_SLOTS * 40)
    data.writeBigUInt64LE(BigInt(BLOCKHASH_SLOTS))
    const slot = this.#clock.slot()
    for (let i = 0; i < BLOCKHASH_SLOTS; i++) {
      this.#blockhashes.bytes(slot - i).copy(data, 8 + i * 40)
      data.writeBigUInt64LE(LAMPORTS_PER_SIGNATURE, 40 + i * 40)
    }
    return data
  }

  balance(address: string): bigint {
    if (address.startsWith('Sysvar')) return this.get(address)?.lamports ?? 0n
    this.load([address])
    return this.#svm.getBalance(addressBytes(address)) ?? 0n
  }

  /** Overwrites an account; null or zero lamports delete it. Throws an Error that names the address. */
  set(address: string, account: DatedAccount | null): void {
    const {
      lamports,
      owner,
      data,
      executable,
      rentEpoch = DEFAULT_RENT_EPOCH,
    }: DatedAccount = account ?? {
      lamports: 0n,
      owner: SYSTEM_PROGRAM,
      data: new Uint8Array(),
      executable: false,
    }
    if (lamports < 0n || lamports > MAX_U64) {
      throw new Error(`Account ${address}: lamports must be from 0 to ${MAX_U64}, got ${lamports}`)
    }
    this.#replace(address)
    if (account?.rentEpoch === undefined) this.#rentEpochs.delete(address)
    else this.#rentEpochs.set(address, account.rentEpoch)
    const native = new this.#native.Account(lamports, data, addressBytes(owner), executable, rentEpoch)
    try {
      this.#svm.setAccount(addressBytes(address), native)
    } catch (error) {
      throw new Error(`Account ${address} cannot be set: ${error instanceof Error ? error.message : error}`)
    }
  }

  /**
   * Sets accounts from a journal, programs last, because the runtime loads them from their data accounts.
   * Returns
   * a sentence for each that cannot be set.
   */
  restore(accounts: Iterable<JournaledAccount>): string[] {
    const faults: string[] = []
    const programs: JournaledAccount[] = []
    const unused = new Set([...this.#unused.keys()].map((id) => byteKey(addressBytes(id))))
    const restore = ({ address, lamports, owner, executable, data }: JournaledAccount) => {
      if (unused.size > 0 && unused.has(byteKey(address))) this.#replace(addressOf(address))
      try {
        this.#svm.setAccount(address, new this.#native.Account(lamports, data, owner, executable, DEFAULT_RENT_EPOCH))
      } catch (error) {
        const reason = error instanceof Error ? error.message : error
        faults.push(`Account ${addressOf(address)} cannot be set: ${reason}`)
      }
    }
    for (const account of accounts) {
      if (account.executable) programs.push(account)
      else restore(account)
    }
    for (const program of programs) restore(program)
    return faults
  }

  /**
   * Adds an SBF program by the bytes of its ELF file. It is verified and compiled at its first use, because that is
   * the slowest part of opening.
   */
  addProgram(id: string, elf: Uint8Array): void {
    const bytes = addressBytes(id)
    this.#replace(id)
    this.#unused.set(id, { id, addresses: [id], add: () => this.#svm.addProgram(bytes, elf) })
  }

  #addDefault(accounts: readonly (readonly [address: Uint8Array, account: Account])[]): void {
    const addresses = accounts.map(([address]) => addressOf(address))
    const add = () => {
      for (const [address, account] of accounts) this.#svm.setAccount(address, account)
    }
    const program = { id: addresses.at(-1) ?? '', addresses, add }
    for (const address of addresses) this.#unused.set(address, program)
  }

  /** Prepares an account to be overwritten: an unused program is forgotten, but loaded first if only its bytes change. */
  #replace(address: string): void {
    const program = this.#unused.get(address)
    if (program === undefined) return
    if (program.id !== address) this.load([address])
    for (const each of program.addresses) this.#unused.delete(each)
  }

  /** Loads the unused programs among the addresses. A call of a program with invalid bytes fails. */
  load(addresses: Iterable<string>): void {
    if (this.#unused.size === 0) return
    for (const used of addresses) {
      const program = this.#unused.get(used)
      if (program === undefined) continue
      const { id } = program
      for (const address of program.addresses) this.#unused.delete(address)
      try {
        program.add()
      } catch (error) {
        this.#faults.set(id, error instanceof Error ? error.message : String(error))
      }
      const { program_data = id } = LOADER.decode('program', this.get(id)) ?? {}
      for (const address of new Set([id, program_data])) {
        const account = this.get(address)
        if (account !== null) this.#onLoad(address, account)
      }
    }
  }

  /** The accounts of a program are reported when it is loaded. */
  onLoad(report: (address: string, account: ChainAccount) => void): void {
    this.#onLoad = report
  }

  /** Loads every unused program, and returns by id why invalid ones could not be loaded. */
  loadAll(): ReadonlyMap<string, string> {
    this.load([...this.#unused.keys()])
    return this.#faults
  }

  minimumBalance(space: number): bigint {
    return this.#svm.minimumBalanceForRentExemption(BigInt(space))
  }

  /** Sets the Clock and SlotHashes sysvars to a slot; required before a run. */
  enter({ slot, unixTimestamp }: Tick): void {
    if (slot === this.#slot) return
    const epoch = Math.floor(slot / SLOTS_PER_EPOCH)
    const epochStart = Math.max(epoch * SLOTS_PER_EPOCH, GENESIS_SLOT)
    this.#svm.setClock(
      new this.#native.Clock(
        BigInt(slot),
        BigInt(this.#clock.startOf(epochStart)),
        BigInt(epoch),
        BigInt(epoch + 1),
        BigInt(unixTimestamp),
      ),
    )
    this.set(SLOT_HASHES_SYSVAR, {
      lamports: 1n,
      owner: SYSVAR_OWNER,
      data: this.#slotHashes.at(slot),
      executable: false,
    })
    this.#slot = slot
  }

  /**
   * Runs a transaction and applies its changes. A failed one still pays its fee, unless its accounts could not be
   * loaded. Its signatures are checked unless `sigVerify` is false, or a simulation of the same object has found them
   * valid.
   */
  run(transaction: DecodedTransaction, sigVerify = this.sigVerify): Execution {
    const result = this.#checking(sigVerify && !this.#verified.has(transaction), () =>
      this.#svm.sendVersionedTransaction(transaction.raw),
    )
    if (result instanceof this.#native.FailedTransactionMetadata) {
      return { ...toExecution(result.meta()), err: transactionErrorJson(result.err()) }
    }
    return toExecution(result)
  }

  /** Runs a transaction without applying its changes; `after` reads the accounts that it would have written. */
  simulate(
    transaction: DecodedTransaction,
    sigVerify: boolean,
  ): { execution: Execution; after: () => Map<string, ChainAccount> } {
    const result = this.#checking(sigVerify && !this.#verified.has(transaction), () =>
      this.#svm.simulateVersionedTransaction(transaction.raw),
    )
    if (result instanceof this.#native.FailedTransactionMetadata) {
      const execution = { ...toExecution(result.meta()), err: transactionErrorJson(result.err()) }
      if (sigVerify && wasExecuted(execution)) this.#verified.add(transaction)
      return { execution, after: () => new Map() }
    }
    if (sigVerify) this.#verified.add(transaction)
    const after = () =>
      new Map(result.postAccounts().map((post) => [addressOf(post.address), toChainAccount(post.account())] as const))
    return { execution: toExecution(result.meta()), after }
  }

  #checking<T>(signatures: boolean, run: () => T): T {
    if (signatures) return run()
    this.#svm.setSigverify(false)
    try {
      return run()
    } finally {
      this.#svm.setSigverify(true)
    }
  }
}

/** Whether a run got as far as executing an instruction. */
export function wasExecuted({ err, logs }: Execution): boolean {
  return err === null || logs.length > 0 || (typeof err === 'object' && 'InstructionError' in err)
}

let builtIn: readonly string[] | undefined

function toChainAccount(account: import('litesvm/dist/internal.js').Account): ChainAccount {
  return {
    lamports: account.lamports(),
    owner: addressOf(account.owner()),
    data: account.data(),
    executable: account.executable(),
  }
}

function toExecution(meta: TransactionMetadata): Execution {
  const returned = meta.returnData()
  const returnedData = returned.data()
  const innerInstructions: InnerInstructions[] = []
  for (const [index, group] of meta.innerInstructions().entries()) {
    if (group.length === 0) continue
    const instructions = group.map((inner) => {
      const compiled = inner.instruction()
      return {
        programIdIndex: compiled.programIdIndex(),
        accounts: [...compiled.accounts()],
        data: compiled.data(),
        stackHeight: inner.stackHeight(),
      }
    })
    innerInstructions.push({ index, instructions })
  }
  return {
    err: null,
    logs: meta.logs(),
    unitsConsumed: Number(meta.computeUnitsConsumed()),
    returnData: returnedData.length === 0 ? null : { programId: addressOf(returned.programId()), data: returnedData },
    innerInstructions,
  }
}
