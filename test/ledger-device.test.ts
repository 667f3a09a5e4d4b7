/** A Ledger as svc talks to it: the URL that names it, recorded exchanges, and a sentence for each of its states. */
import { base58 } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Terminal, withTerminal } from '../commands/cli/terminal.ts'
import { ledgerSigner } from '../commands/machine/wallets/ledger/signer.ts'
import { createWallet } from '../commands/machine/wallets/wallet.ts'
import type { LedgerDevices } from '../commands/wallet/ledger-devices.ts'
import { derivationPath, ledgerLocator, ledgerUrl } from '../commands/wallet/ledger-locator.ts'
import { decisionText } from '../src/solana/decision-texts.ts'
import { isTextSignedBy, MAX_SIGNED_TEXT, offchainMessage, textFault } from '../src/solana/offchain-messages.ts'
import { isSignatureOf, keyPairOf } from '../src/solana/signatures.ts'
import { LedgerEmulator, ledgerError, openTransportReplayer, REJECTED, RecordStore } from './support/ledger-emulator.ts'
import { transferMessage } from './support/ledger-messages.ts'
import { runs } from './support/runs.ts'

const DEFAULT_PATH = "44'/501'"

/** Calls `run` on a machine with these devices. */
const beside = <T>(ledgers: LedgerDevices, run: () => Promise<T>): Promise<T> =>
  withTerminal({ env: {}, ledgers } as unknown as Terminal, run)

const signing = (ledgers: LedgerDevices, message: Uint8Array, url = 'usb://ledger') => {
  const notes: string[] = []
  const signature = beside(ledgers, async () => {
    const { address, sign } = await ledgerSigner(url, (text) => notes.push(text))
    return { address, signature: await sign(message) }
  })
  return { signature, notes }
}

describe('The URL of a Ledger', () => {
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => base58.encode(bytes))
  const index = fc.nat({ max: 2 ** 31 - 1 })

  it('is read as it was written, for every device and key', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(fc.option(key, { nil: undefined }), fc.array(index, { maxLength: 2 }), (device, indexes) => {
        const locator = { device, key: indexes }
        expect(ledgerLocator(ledgerUrl(locator))).toEqual(locator)
      }),
      { numRuns: runs(200, 5_000) },
    )
  })

  it('has the forms of the Solana command line, with hardened indexes below 44 and 501', () => {
    const address = base58.encode(keyPairOf(new Uint8Array(32)).publicKey)
    expect(ledgerLocator('usb://ledger')).toEqual({ device: undefined, key: [] })
    expect(ledgerLocator('usb://ledger/')).toEqual({ device: undefined, key: [] })
    expect(ledgerLocator('USB://Ledger?key=7')).toEqual({ device: undefined, key: [7] })
    expect(ledgerLocator(`usb://ledger/${address}?key=0/3`)).toEqual({ device: address, key: [0, 3] })
    expect(ledgerLocator("usb://ledger?key=0'/3'")).toEqual({ device: undefined, key: [0, 3] })
    expect(derivationPath([])).toBe("44'/501'")
    expect(derivationPath([0, 3])).toBe("44'/501'/0'/3'")
  })

  it.each([
    ['usb://', 'names no device'],
    ['usb:ledger', 'names no device'],
    ['usb://trezor', 'names the maker "trezor"'],
    ['usb://ledger/nobody', 'has no public key'],
    ['usb://ledger/a/b', 'has no public key'],
    ['usb://ledger?key=', 'has "" in ?key='],
    ['usb://ledger?key=one', 'has "one" in ?key='],
    ['usb://ledger?key=-1', 'has "-1" in ?key='],
    ['usb://ledger?key=2147483648', 'has "2147483648" in ?key='],
    ['usb://ledger?key=0/0/0', 'more than two indexes'],
    ['usb://ledger?path=0', 'only ?key= has a meaning'],
    ['usb://ledger?key=0&key=1', 'has "0&key=1" in ?key='],
    ['usb://ledger?key=0#1', 'names no device'],
    [`usb://ledger?key=${'0'.repeat(200)}`, 'longer than 200'],
  ])('%s is refused: %s', (url, message) => {
    expect(() => ledgerLocator(url)).toThrow(message)
  })
})

describe('A Ledger', () => {
  it('signs the bytes of recorded exchanges, each cut into pieces of at most 255 bytes', async () => {
    const ledger = new LedgerEmulator('recorded')
    const key = ledger.key(`${DEFAULT_PATH}/0'/1'`)
    const message = transferMessage(key.publicKey, 12)
    expect(message.length).toBeGreaterThan(510)
    const first = await signing(LedgerEmulator.at(ledger), message, 'usb://ledger?key=0/1').signature
    expect(isSignatureOf(first.address, message, first.signature)).toBe(true)
    expect(ledger.record.filter((line) => line.startsWith('=> '))).toEqual([
      // The path 44'/501'/0'/1' twice: for the address, and again before it signs.
      '=> e00500001104' + '8000002c800001f58000000080000001',
      '=> e00500001104' + '8000002c800001f58000000080000001',
      expect.stringMatching(/^=> e0060102ff01048000002c800001f58000000080000001/),
      expect.stringMatching(/^=> e0060103ff/),
      expect.stringMatching(/^=> e0060101/),
    ])
    // Ledger's own mock transport answers from this record, and refuses any other byte.
    const store = RecordStore.fromString(ledger.record.join('\n'))
    const replay = { list: async () => [null], open: () => openTransportReplayer(store) }
    const again = await signing(replay, message, 'usb://ledger?key=0/1').signature
    expect(again).toEqual(first)
    expect(store.isEmpty()).toBe(true)
  })

  it('shows a person what to confirm, and the hash of a message that it cannot show', async () => {
    const ledger = new LedgerEmulator('shown')
    const run = signing(LedgerEmulator.at(ledger), transferMessage(ledger.key(DEFAULT_PATH).publicKey))
    await run.signature
    expect(run.notes).toEqual([
      'Confirm the transaction on the Ledger',
      expect.stringMatching(/^If the device shows a message hash, it must be [1-9A-HJ-NP-Za-km-z]{43,44}$/),
    ])
    expect(ledger.isOpen).toBe(false)
  })

  const states: [state: string, change: (ledger: LedgerEmulator) => void, message: string, next: string][] = [
    [
      'is not connected',
      ({ state }) => Object.assign(state, { isConnected: false }),
      'no Ledger is connected',
      'plug it in',
    ],
    ['is locked', ({ state }) => Object.assign(state, { status: 0x5515 }), 'is locked', 'with its PIN'],
    [
      'is locked, as older firmware says it',
      ({ state }) => Object.assign(state, { status: 0x6982 }),
      'is locked',
      'PIN',
    ],
    ...[0x6e00, 0x6e01, 0x6d00, 0x6d02, 0x6511].map((status): (typeof states)[number] => [
      `shows its dashboard (0x${status.toString(16)})`,
      ({ state }) => Object.assign(state, { status }),
      'the Solana app is not open on the Ledger',
      'open the Solana app',
    ]),
    [
      'may not sign what it cannot show',
      ({ state }) => Object.assign(state, { isBlind: true }),
      'cannot show this transaction, and blind signing is off; the transaction was not signed',
      'allow blind signing in the settings of the Solana app',
    ],
    [
      'is told to reject',
      ({ state }) => Object.assign(state, { person: () => REJECTED }),
      'the transaction was rejected on the Ledger; the transaction was not signed',
      '',
    ],
    [
      'is told to reject, in the words of newer firmware',
      ({ state }) => Object.assign(state, { person: () => 0x5501 }),
      'was rejected on the Ledger',
      '',
    ],
    [
      'is unplugged while it waits',
      ({ state }) =>
        Object.assign(state, {
          person: () => Promise.reject(ledgerError('DisconnectedDeviceDuringOperation', 'gone')),
        }),
      'was disconnected before it answered',
      'plug it in',
    ],
    [
      'is unplugged before',
      ({ state }) => Object.assign(state, { breaks: ledgerError('DisconnectedDevice') }),
      'was disconnected before it answered',
      'plug it in',
    ],
    [
      'is asked by another program at the same time',
      ({ state }) => Object.assign(state, { breaks: ledgerError('TransportRaceCondition', 'pending') }),
      'busy with another request',
      'answer or reject what it shows',
    ],
    [
      'answers another program',
      ({ state }) => Object.assign(state, { breaks: new Error('Invalid channel') }),
      'busy with another request',
      'close other programs',
    ],
    [
      'cannot be opened',
      ({ state }) => Object.assign(state, { refuses: new TypeError('cannot open device with path /dev/hidraw0') }),
      'cannot be opened',
      'udev rules',
    ],
    [
      'answers with a status that svc does not know',
      ({ state }) => Object.assign(state, { person: () => 0x6f42 }),
      'the Ledger answered with the status 0x6f42; the transaction was not signed',
      'close the app and open it again',
    ],
    [
      'finds the message too large',
      ({ state }) => Object.assign(state, { person: () => 0x6a83 }),
      'too large for the Ledger',
      '',
    ],
    [
      'does not understand the message',
      ({ state }) => Object.assign(state, { person: () => 0x6a80 }),
      'does not understand this transaction (0x6a80)',
      'update the Solana app',
    ],
    [
      'breaks in an unknown way',
      ({ state }) => Object.assign(state, { breaks: new Error(`${'x'.repeat(500)}\nat secret`) }),
      `the Ledger did not answer: ${'x'.repeat(160)}`,
      'plug it in again',
    ],
  ]
  it.each(states)('that %s says so, with the way out', async (_, change, message, next) => {
    const ledger = new LedgerEmulator('states')
    change(ledger)
    const { signature } = signing(LedgerEmulator.at(ledger), transferMessage(ledger.key(DEFAULT_PATH).publicKey))
    const problem = (await signature.then(
      () => null,
      (error) => error,
    )) as { message: string; next?: string } | null
    expect(problem?.message).toContain(message)
    expect(problem?.message).not.toContain('\n')
    expect(problem?.next ?? '').toContain(next)
    expect(ledger.isOpen).toBe(false)
  })

  it('whose app does not know version 1 says to use version 0, before anything is signed', async () => {
    const ledger = new LedgerEmulator('version 1')
    const message = Uint8Array.from([0x81, ...transferMessage(ledger.key(DEFAULT_PATH).publicKey).subarray(1)])
    const refused = await signing(LedgerEmulator.at(ledger), message).signature.catch((error) => error)
    expect(refused).toMatchObject({ param: '--tx-version', next: 'use --tx-version 0, or update the app' })
    expect(refused.message).toContain('does not sign transactions of version 1')
    expect(ledger.shown).toEqual([])
    ledger.state.knowsVersion1 = true
    const { address, signature } = await signing(LedgerEmulator.at(ledger), message).signature
    expect(isSignatureOf(address, message, signature)).toBe(true)
  })

  it('that can sign later reviews a transaction, and signs it with the blockhash of then', async () => {
    const ledger = new LedgerEmulator('delayed')
    ledger.state.signsDelayed = true
    const key = ledger.key(DEFAULT_PATH)
    const message = transferMessage(key.publicKey, 12)
    const fresh = Uint8Array.from(message)
    fresh.fill(7, 5 + 32 * (message[4] ?? 0), 37 + 32 * (message[4] ?? 0))
    const steps: string[] = []
    ledger.state.person = () => {
      steps.push('approved')
      return 0x9000
    }
    const sign = (next: Uint8Array) =>
      beside(LedgerEmulator.at(ledger), async () => {
        const signer = await ledgerSigner('usb://ledger', () => undefined)
        const refresh = async () => {
          steps.push('refreshed')
          return next
        }
        return signer.sign(message, { refresh })
      })
    expect(isSignatureOf(key.address, fresh, await sign(fresh))).toBe(true)
    expect([steps, ledger.shown.map((one) => one.message)]).toEqual([['approved', 'refreshed'], [Buffer.from(message)]])
    // The device itself compares everything but the blockhash.
    const other = Uint8Array.from(fresh)
    other[other.length - 3] = 9
    await expect(sign(other)).rejects.toThrow(
      'the Ledger answered with the status 0x6f11; the transaction was not signed',
    )
    ledger.state.person = () => REJECTED
    await expect(sign(fresh)).rejects.toThrow('rejected')
    expect(steps).toEqual(['approved', 'refreshed', 'approved', 'refreshed'])
  })

  it('is found among several by its key or by the key of the path, and needs one of them', async () => {
    const [one, two] = [new LedgerEmulator('one'), new LedgerEmulator('two')]
    const both = LedgerEmulator.at(one, two)
    const root = two.key(DEFAULT_PATH).address
    const { address } = two.key(`${DEFAULT_PATH}/0'`)
    const message = transferMessage(two.key(`${DEFAULT_PATH}/0'`).publicKey)
    for (const device of [root, address]) {
      expect(await signing(both, message, `usb://ledger/${device}?key=0`).signature).toMatchObject({ address })
    }
    const unnamed = await signing(both, message).signature.catch((error) => error)
    expect(unnamed.message).toBe('2 Ledgers are connected')
    expect(unnamed.next).toContain(`usb://ledger/${one.key(DEFAULT_PATH).address} or usb://ledger/${root}`)
    // A locked one is not in the way of the one that is meant.
    one.state.status = 0x5515
    expect(await signing(both, message, `usb://ledger/${root}?key=0`).signature).toMatchObject({ address })
    two.state.isConnected = false
    one.state.status = null
    const wrong = await signing(both, message, `usb://ledger/${root}?key=0`).signature.catch((error) => error)
    expect(wrong.message).toContain('this is another Ledger')
    expect(wrong.message).toContain(one.key(`${DEFAULT_PATH}/0'`).address)
  })

  it('that was exchanged for another one between two requests does not sign', async () => {
    const [before, after] = [new LedgerEmulator('before'), new LedgerEmulator('after')]
    after.state.isConnected = false
    const message = transferMessage(before.key(DEFAULT_PATH).publicKey)
    const refused = beside(LedgerEmulator.at(before, after), async () => {
      const { sign } = await ledgerSigner('usb://ledger', () => undefined)
      before.state.isConnected = false
      after.state.isConnected = true
      return sign(message)
    })
    await expect(refused).rejects.toThrow('this is another Ledger')
    expect(after.shown).toEqual([])
  })

  it('that signs something else is not trusted', async () => {
    const ledger = new LedgerEmulator('liar')
    const message = transferMessage(ledger.key(DEFAULT_PATH).publicKey)
    ledger.state.person = ({ message: shown }) => {
      shown[shown.length - 1] = 0xff
      return 0x9000
    }
    await expect(signing(LedgerEmulator.at(ledger), message).signature).rejects.toThrow('is not of')
  })

  it('is asked for one thing at a time, also by requests that come together', async () => {
    const ledger = new LedgerEmulator('queue')
    const messages = [1, 2, 3].map((n) => transferMessage(ledger.key(DEFAULT_PATH).publicKey, n))
    let open = 0
    let most = 0
    ledger.state.person = async () => {
      most = Math.max(most, ++open)
      await Promise.resolve()
      open--
      return 0x9000
    }
    await beside(LedgerEmulator.at(ledger), async () => {
      const { sign } = await ledgerSigner('usb://ledger', () => undefined)
      await Promise.all(messages.map((message) => sign(message)))
    })
    expect([most, ledger.shown.map(({ message }) => message)]).toEqual([1, messages.map((one) => Buffer.from(one))])
  })
})

describe('A signed text', () => {
  const text = 'svc approves proposal 7'

  it('is the same bytes of a keypair and of a Ledger, and no transaction', async () => {
    const ledger = new LedgerEmulator('text')
    const { address } = ledger.key(DEFAULT_PATH)
    const signed = await beside(LedgerEmulator.at(ledger), () => createWallet().signText(text, 'usb://ledger'))
    expect(signed.address).toBe(address)
    const message = offchainMessage(text, address)
    expect(ledger.shown).toEqual([{ kind: 'text', message: Buffer.from(message) }])
    expect(message[0]).toBe(0xff)
    const signature = base58.decode(signed.signature)
    expect(signature).toEqual(Uint8Array.from(ledger.key(DEFAULT_PATH).sign(message)))
    expect(isTextSignedBy(address, text, signature)).toBe(true)
    expect(isTextSignedBy(address, `${text}1`, signature)).toBe(false)
    expect(isTextSignedBy(keyPairOf(new Uint8Array(32)).address, text, signature)).toBe(false)
  })

  it('has the bytes of the specification', () => {
    const { address, publicKey } = keyPairOf(new Uint8Array(32))
    const domain = 'ff736f6c616e61206f6666636861696e'
    const header = `${domain}00${'00'.repeat(32)}0001${Buffer.from(publicKey).toString('hex')}0200`
    expect(Buffer.from(offchainMessage('ok', address)).toString('hex')).toBe(`${header}6f6b`)
  })

  it('of an app that knows only the short form is accepted too', async () => {
    const ledger = new LedgerEmulator('short')
    ledger.state.knowsShortTextsAlone = true
    const signed = await beside(LedgerEmulator.at(ledger), () => createWallet().signText(text, 'usb://ledger'))
    expect(isTextSignedBy(signed.address, text, base58.decode(signed.signature))).toBe(true)
    ledger.state.person = () => REJECTED
    const refused = beside(LedgerEmulator.at(ledger), () => createWallet().signText(text, 'usb://ledger'))
    await expect(refused).rejects.toThrow('the text was rejected on the Ledger; the text was not signed')
  })

  it('is long enough for every decision about a proposal', () => {
    const longest = { id: 'prop_'.padEnd(64, 'x'), message_sha256: 'f'.repeat(64), genesis: 'G'.repeat(44) }
    const text = decisionText('approved', { ...longest, what: 'w'.repeat(10_000), expires_at: Date.now() })
    expect(textFault(text)).toBeUndefined()
  })

  it('of an app without texts names the remedy', async () => {
    const ledger = new LedgerEmulator('old')
    ledger.state.person = () => 0x6d00
    const refused = beside(LedgerEmulator.at(ledger), () => createWallet().signText(text, 'usb://ledger'))
    await expect(refused).rejects.toMatchObject({ next: 'update the Solana app in Ledger Live' })
  })

  it('is printable ASCII, as long as fits', () => {
    expect(textFault('x'.repeat(MAX_SIGNED_TEXT))).toBeUndefined()
    expect(offchainMessage('x'.repeat(MAX_SIGNED_TEXT), keyPairOf(new Uint8Array(32)).address)).toHaveLength(1232)
    for (const wrong of ['', 'x'.repeat(MAX_SIGNED_TEXT + 1), 'a\nb', 'ä', '\x1b[2J']) {
      expect(textFault(wrong)).toBeDefined()
      expect(isTextSignedBy(keyPairOf(new Uint8Array(32)).address, wrong, new Uint8Array(64))).toBe(false)
    }
  })
})
