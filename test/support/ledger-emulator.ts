/** A Ledger with its Solana app, down to the bytes of each exchange: keys in software, and a person who answers as a test says. */
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type { LedgerDevices, LedgerTransport } from '../../commands/wallet/ledger-devices.ts'
import { type KeyPair, keyPairOf } from '../../src/solana/signatures.ts'

/** By `require`, because the files for `import` of these packages do not load in Node.js. */
const require = createRequire(import.meta.url)
/** Ledger's own base of all transports: it cuts no corner between the app's package and the exchange of bytes. */
const Transport = require('@ledgerhq/hw-transport').default as new () => LedgerTransport
const errors = require('@ledgerhq/hw-transport/errors') as Record<string, (new (message?: string) => Error) | undefined>
/** Ledger's own mock transport, which replays recorded exchanges. */
export const { RecordStore, openTransportReplayer } = require('@ledgerhq/hw-transport-mocker') as {
  RecordStore: { fromString(text: string): { isEmpty(): boolean } }
  openTransportReplayer(store: unknown): Promise<LedgerTransport>
}

/** An error of Ledger's own, by its name. */
export function ledgerError(name: string, message?: string): Error {
  const Named = errors[name]
  if (Named === undefined) throw new Error(`Ledger has no error ${name}`)
  return new Named(message)
}

const OK = 0x9000
export const REJECTED = 0x6985
const [GET_CONFIGURATION, GET_ADDRESS, SIGN, SIGN_TEXT, REVIEW, SIGN_REVIEWED] = [0x04, 0x05, 0x06, 0x07, 0x08, 0x09]
const [EXTENDS, MORE] = [0x01, 0x02]

export interface Shown {
  kind: 'transaction' | 'text'
  /** What is signed. */
  message: Buffer
}
export interface LedgerState {
  isConnected: boolean
  /** Answers everything with this status, such as that of a locked device or of another app. */
  status: number | null
  /** Whether the app can only show the hash of transactions, and whether it may sign those. */
  isBlind: boolean
  allowsBlindSigning: boolean
  knowsVersion1: boolean
  /** Whether the app can sign a transaction after it was reviewed, with another blockhash. */
  signsDelayed: boolean
  /** Whether the app knows only the short form of texts. */
  knowsShortTextsAlone: boolean
  /** What the person does with what is shown; returns the status. */
  person: (shown: Shown) => number | Promise<number>
  /** The error of the next exchange, as of a device that is unplugged. */
  breaks: Error | null
  /** The error of the next opening. */
  refuses: Error | null
}

export class LedgerEmulator {
  readonly shown: Shown[] = []
  /** Exchanges as hexadecimal digits, in the form of Ledger's records. */
  readonly record: string[] = []
  readonly state: LedgerState = {
    isConnected: true,
    status: null,
    isBlind: false,
    allowsBlindSigning: false,
    knowsVersion1: false,
    signsDelayed: false,
    knowsShortTextsAlone: false,
    person: () => OK,
    breaks: null,
    refuses: null,
  }
  readonly #seed: string
  isOpen = false
  openings = 0

  constructor(seed: string) {
    this.#seed = seed
  }

  /** The devices of a machine that has these. */
  static at(...ledgers: LedgerEmulator[]): LedgerDevices {
    return {
      list: async () => ledgers.filter(({ state }) => state.isConnected),
      open: async (one) => (one as LedgerEmulator).#transport(),
    }
  }

  /** The key of a path such as `44'/501'/0'`. */
  key(path: string): KeyPair {
    return keyPairOf(createHash('sha256').update(`${this.#seed} ${path}`).digest())
  }

  #transport(): LedgerTransport {
    const { refuses } = this.state
    this.state.refuses = null
    if (refuses !== null) throw refuses
    if (this.isOpen) throw new Error('cannot open device with path x')
    this.isOpen = true
    this.openings++
    const [exchange, close] = [
      async (apdu: Buffer) => {
        const answer = await this.#answer(apdu)
        this.record.push(`=> ${apdu.toString('hex')}`, `<= ${answer.toString('hex')}`)
        return answer
      },
      async () => {
        this.isOpen = false
      },
    ]
    return Object.assign(new Transport(), { exchange, close })
  }

  async #answer(apdu: Buffer): Promise<Buffer> {
    const { breaks, status } = this.state
    this.state.breaks = null
    if (breaks !== null) throw breaks
    try {
      if (status !== null) throw new Status(status)
      return Buffer.concat([await this.#result(apdu), statusBytes(OK)])
    } catch (error) {
      if (error instanceof Status) return statusBytes(error.status)
      throw error
    }
  }

  #pending = Buffer.alloc(0)

  async #result(apdu: Buffer): Promise<Uint8Array> {
    const [cla, ins, , p2 = 0, length] = apdu
    const data = apdu.subarray(5)
    if (cla !== 0xe0) throw new Status(0x6e00)
    if (length !== data.length) throw new Status(0x6a83)
    const { allowsBlindSigning, signsDelayed } = this.state
    if (ins === GET_CONFIGURATION) return Uint8Array.of(Number(allowsBlindSigning), 0, 1, signsDelayed ? 14 : 9, 2)
    if (ins === GET_ADDRESS) return this.key(pathIn(data).path).publicKey
    const known = [SIGN, SIGN_TEXT, ...(signsDelayed ? [REVIEW, SIGN_REVIEWED] : [])]
    if (ins === undefined || !known.includes(ins)) throw new Status(0x6d00)
    this.#pending = Buffer.concat([(p2 & EXTENDS) === 0 ? Buffer.alloc(0) : this.#pending, data])
    if ((p2 & MORE) !== 0) return new Uint8Array()
    if (this.#pending[0] !== 1) throw new Status(0x6a80)
    const { path, rest: message } = pathIn(this.#pending.subarray(1))
    const key = this.key(path)
    if (ins === SIGN_REVIEWED) return this.#signReviewed(message, path)
    this.#reviewed = null
    if (ins === SIGN_TEXT) this.#checkText(message, key)
    else this.#checkTransaction(message, key)
    const shown: Shown = { kind: ins === SIGN_TEXT ? 'text' : 'transaction', message }
    this.shown.push(shown)
    const status = await this.state.person(shown)
    if (status !== OK) throw new Status(status)
    if (ins !== REVIEW) return key.sign(message)
    this.#reviewed = { terms: withoutBlockhash(message), path }
    return new Uint8Array()
  }

  #reviewed: { terms: Buffer; path: string } | null = null

  /** Once for each review, and only if nothing but the blockhash differs. */
  #signReviewed(message: Buffer, path: string): Uint8Array {
    const reviewed = this.#reviewed
    this.#reviewed = null
    if (reviewed === null) throw new Status(0x6f10)
    if (!withoutBlockhash(message).equals(reviewed.terms)) throw new Status(0x6f11)
    if (path !== reviewed.path) throw new Status(0x6f13)
    return this.key(path).sign(message)
  }

  /** The app reads the header, and signs only for a key that must sign. */
  #checkTransaction(message: Buffer, key: KeyPair): void {
    const version = (message[0] ?? 0) & 0x80 ? (message[0] ?? 0) & 0x7f : null
    if (version === 1) {
      if (this.state.knowsVersion1) return
      throw new Status(0x6a81)
    }
    const at = version === null ? 0 : 1
    const keys = message.subarray(at + 4)
    const signers = Array.from({ length: message[at] ?? 0 }, (_, i) => keys.subarray(32 * i, 32 * i + 32))
    if (!signers.some((signer) => signer.equals(key.publicKey))) throw new Status(0x6a81)
    if (this.state.isBlind && !this.state.allowsBlindSigning) throw new Status(0x6808)
  }

  #checkText(message: Buffer, key: KeyPair): void {
    const { knowsShortTextsAlone } = this.state
    const header = knowsShortTextsAlone ? 20 : 85
    const [domain, version, format] = [message.toString('latin1', 0, 16), message[16], message[header - 3]]
    const text = message.subarray(header)
    const isWhole = message.length > header && message.readUInt16LE(header - 2) === text.length
    if (domain !== '\xffsolana offchain' || version !== 0 || !isWhole) throw new Status(0x6a81)
    if (knowsShortTextsAlone) {
      if (format !== 0) throw new Status(0x6a81)
    } else if (message[49] !== 0 || message[50] !== 1 || !message.subarray(51, 83).equals(key.publicKey)) {
      throw new Status(0x6a81)
    }
    if (!/^[\x20-\x7e]+$/.test(text.toString('latin1'))) throw new Status(0x6a82)
  }
}

/** A message of version 0 with zeros for its blockhash, which follows the keys. */
function withoutBlockhash(message: Buffer): Buffer {
  const at = 5 + 32 * (message[4] ?? 0)
  return Buffer.from(message).fill(0, at, at + 32)
}

class Status extends Error {
  readonly status: number

  constructor(status: number) {
    super(status.toString(16))
    this.status = status
  }
}

function statusBytes(status: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(status)
  return bytes
}

/** A path as the app reads it: the number of indexes, then each in four bytes, all hardened. */
function pathIn(data: Buffer): { path: string; rest: Buffer } {
  const count = data[0] ?? 0
  if (count < 2 || count > 4 || data.length < 1 + 4 * count) throw new Status(0x6a81)
  const indexes = Array.from({ length: count }, (_, i) => data.readUInt32BE(1 + 4 * i))
  if (indexes[0] !== 0x8000002c || indexes[1] !== 0x800001f5 || indexes.some((index) => index < 0x80000000))
    throw new Status(0x6a81)
  const path = indexes.map((index) => `${index - 0x80000000}'`).join('/')
  return { path, rest: data.subarray(1 + 4 * count) }
}
