/** `svc wallet`: the keys that commands sign with, kept encrypted, in a program of the user's own or on a Ledger, and what they hold. */
import type { WalletBalances } from '../../src/api/accounts.ts'
import { paths } from '../../src/api/paths.ts'
import type { SolTransfer } from '../../src/api/sol-transfers.ts'
import type { TokenTransfer } from '../../src/api/token-transfers.ts'
import { FileFault, readOwn } from '../../src/platform/files.ts'
import { isAddress } from '../../src/solana/addresses.ts'
import { groupedDecimalOf, LAMPORT_DECIMALS, rawUnits, solOf, wholeOf } from '../cli/amounts.ts'
import { type CommandOutcome, integer, mintAddress, type Noun, required, text, toggle, verb } from '../cli/command.ts'
import { listOutcome } from '../cli/reads.ts'
import type { Session } from '../cli/session.ts'
import { demanding, pays, sendsTokens } from '../signing/demand.ts'
import { ALLOW_PROGRAMS, buildFields, SIGNING, type SigningFlags } from '../signing/flags.ts'
import { runSigned } from '../signing/run.ts'
import { mintState } from '../signing/token-state.ts'
import { privateFileProblem, readBytes } from '../ui/files.ts'
import { Problem, usage } from '../ui/problem.ts'
import type { Ui } from '../ui/ui.ts'
import { isDeviceUrl } from './names.ts'
import { reclaim } from './reclaim.ts'
import type { NamedWallet } from './wallets.ts'

// `svc wallet send`: SOL or a token from your wallet to another.

const ONE_TRANSFER = 'one transfer, of this amount to this recipient'
const demandsSol = demanding(
  ONE_TRANSFER,
  ({ payer }, { recipient, lamports }: Pick<SolTransfer, 'recipient' | 'lamports'>) => [
    pays(payer, recipient, lamports),
  ],
)
const demandsToken = demanding(ONE_TRANSFER, sendsTokens)

const { submit, get, simulate } = paths.transactions
const ALL = 'all'

const send = verb({
  about: 'Send SOL or a token to another wallet',
  details:
    'Shows what the transaction changes before it asks you. If the recipient has no token account, one is opened at your cost. If no answer came, check `svc wallet balance` before you send again: each run is another transfer. To pay many wallets, each once, use `svc airdrops send`.',
  calls: [
    paths.solTransfers.create,
    paths.tokenTransfers.create,
    paths.accounts.get,
    paths.tokenTransfers.plan,
    simulate,
    submit,
    get,
  ],
  args: {
    to: required(text('Address, or name of a wallet of yours', { placeholder: 'RECIPIENT' })),
    amount: required(text('SOL or whole tokens, like 1.5, or all', { placeholder: 'AMOUNT' })),
  },
  flags: {
    mint: mintAddress('Send the token of this mint or symbol instead of SOL'),
    allow_programs: ALLOW_PROGRAMS,
    accept_transfer_fee: toggle('Send a token with a transfer fee', { needs: ['mint'] }),
    ...SIGNING,
  },
  examples: [
    'svc wallet send 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 1.5',
    'svc wallet send treasury all --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY -k ops',
    'svc wallet send 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 0.25 --dry-run',
  ],
  async run({ to: named, amount, mint, ...flags }, session) {
    const recipient = isAddress(named) ? named : await addressOfWallet(session, named)
    if (mint !== undefined) return sendToken(session, flags, { recipient, amount, mint })
    return sendSol(session, flags, { recipient, amount })
  },
})

async function addressOfWallet({ wallet }: Session, named: string): Promise<string> {
  try {
    return await wallet.address(named)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw usage(`RECIPIENT is not an address, and ${error.message}`, {
      param: 'RECIPIENT',
      next: 'give the address itself, or a wallet of `svc wallet list`',
    })
  }
}

type SendFlags = SigningFlags & { allow_programs: boolean; accept_transfer_fee: boolean }

function sendSol(
  session: Session,
  { allow_programs, ...flags }: SendFlags,
  { recipient, amount }: { recipient: string; amount: string },
) {
  const lamports = amount === ALL ? ALL : String(moreThanNothing(rawUnits(amount, LAMPORT_DECIMALS, 'AMOUNT')))
  return runSigned<SolTransfer>(session, flags, {
    what: ({ lamports: sent }) => `Send ${solOf(BigInt(sent))} SOL to ${recipient}`,
    build: (payer) =>
      session.client.solTransfers.create({ payer, recipient, lamports, allow_programs, ...buildFields(flags) }),
    demand: (of, data) => demandsSol(of, { recipient, lamports: lamports === ALL ? data.lamports : lamports }),
    show: ({ lamports: sent, fee }) => ({ recipient, lamports: sent, fee }),
    decimals: () => ({ lamports: LAMPORT_DECIMALS, fee: LAMPORT_DECIMALS }),
  })
}

async function sendToken(
  session: Session,
  { allow_programs, accept_transfer_fee, ...flags }: SendFlags,
  { recipient, amount, mint }: { recipient: string; amount: string; mint: string },
) {
  if (!isAddress(mint)) throw usage(`--mint must be the address of a mint, not "${mint}"`, { param: '--mint' })
  const { decimals } = await mintState(session, mint)
  const given = amount === ALL ? null : moreThanNothing(rawUnits(amount, decimals, 'AMOUNT'))
  return runSigned<Extract<TokenTransfer, { mode: 'unsigned' }>>(session, flags, {
    what: ({ total }) => `Send ${groupedDecimalOf(BigInt(total), decimals)} of the token ${mint} to ${recipient}`,
    async build(payer) {
      const units = given ?? (await heldBy(session, { payer, mint, wallet: recipient }))
      const recipients = [{ wallet: recipient, amount: String(units) }]
      const terms = { allow_programs, accept_transfer_fee, ...buildFields(flags) }
      const { data } = await session.client.tokenTransfers.create({ payer, mint, recipients, ...terms })
      if (data.mode === 'signed') throw new Error('the daemon signed a transfer without being asked to')
      return { data }
    },
    demand: (of, { total }) =>
      demandsToken(of, { mint, decimals, recipients: [{ wallet: recipient, amount: given ?? total }] }),
    preview: ({ rent }) => (rent === '0' ? [] : [`Opens the recipient's token account for ${solOf(BigInt(rent))} SOL`]),
    show: ({ total, recipients }) => ({ recipient, mint, amount: total, token_account: recipients[0]?.token_account }),
    decimals: () => ({ amount: decimals }),
  })
}

/** What is in the token account that a transfer takes from. */
async function heldBy({ client }: Session, request: { payer: string; mint: string; wallet: string }): Promise<bigint> {
  const { payer, mint, wallet } = request
  const { data } = await client.tokenTransfers.plan({
    payer,
    mint,
    recipients: [{ wallet, amount: '1' }],
    accept_transfer_fee: true,
  })
  if (data.held === '0') throw usage(`${payer} has nothing of the token ${mint}`, { param: 'AMOUNT' })
  return BigInt(data.held)
}

function moreThanNothing(units: bigint): bigint {
  if (units > 0n) return units
  throw usage('AMOUNT must be more than 0', { param: 'AMOUNT' })
}

// `svc wallet balance`: the SOL and the tokens of a wallet.

const COLUMNS = ['symbol', 'amount', 'mint', 'name', 'account'] as const

const balance = verb({
  about: 'Show the SOL and the tokens of a wallet, with their symbols',
  details:
    'The maker of a mint chooses its symbol and name, so identify a token by its mint. At most 200 token accounts are shown; --mint shows those of one token.',
  calls: [paths.accounts.balances],
  args: {
    wallet: text('Address, name of a wallet, path of a keypair file or usb://ledger (default: the one in use)', {
      placeholder: 'WALLET',
    }),
  },
  flags: { mint: mintAddress('Only the token of this mint or symbol') },
  examples: [
    'svc wallet balance',
    'svc wallet balance treasury --json',
    'svc wallet balance 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --mint So11111111111111111111111111111111111111112',
  ],
  async run({ wallet: named, mint }, { client, wallet }) {
    const address = named !== undefined && isAddress(named) ? named : await wallet.address(named)
    const { data } = await client.accounts.balances({ wallet: address, ...(mint === undefined ? {} : { mint }) })
    return balancesOutcome(data)
  },
})

/** SOL comes first; amounts of a mint without decimals stay in raw units. */
function balancesOutcome(data: WalletBalances): CommandOutcome {
  const { wallet, lamports, tokens, empty_accounts, truncated } = data
  const notes = [
    ...(truncated ? [`There are more than these ${tokens.length}: ask for one with --mint`] : []),
    ...(empty_accounts > 0 ? [`${empty_accounts} token accounts are empty`] : []),
    ...(tokens.some(({ frozen }) => frozen) ? ['Some are frozen: --json shows which'] : []),
  ]
  const rows = (amountOf: (raw: string, decimals: number | null) => unknown) => [
    ['SOL', amountOf(lamports, LAMPORT_DECIMALS), null, 'Solana', wallet],
    ...tokens.map(({ symbol, amount, decimals, mint, name, account }) => [
      symbol,
      amountOf(amount, decimals),
      mint,
      name,
      account,
    ]),
  ]
  const whole = (raw: string, decimals: number | null) => (decimals === null ? raw : wholeOf(raw, decimals))
  return {
    data,
    rows: { columns: COLUMNS, rows: rows((raw) => raw) },
    table: { columns: COLUMNS.slice(0, 4), rows: rows(whole).map((row) => row.slice(0, 4)) },
    notes,
  }
}

const NAME = required(text('Name of the wallet, of 1 to 32 of a-z, 0-9, - and _', { placeholder: 'NAME' }))
const KEYCHAIN = toggle("Keep the passphrase in the system's keychain instead of asking for it")
/** The number of an account of a recovery phrase is below 2^31. */
const MOST_ACCOUNTS = 0x7fffffff

export const walletNoun: Noun = {
  aliases: { create: 'new', add: 'import', get: 'address', remove: 'delete' },
  verbs: {
    new: verb({
      about: 'Make a wallet with a new key',
      details:
        'The key is encrypted with a passphrase. svc asks for it, or reads it from the file (0600) that SVC_WALLET_PASSPHRASE_FILE names. Sign with -k NAME, or with every command after `svc wallet use NAME`.',
      args: { name: NAME },
      flags: {
        phrase: toggle('Make it from a recovery phrase of 12 words, and show that once'),
        keychain: KEYCHAIN,
      },
      examples: ['svc wallet new treasury', 'svc wallet new ops --keychain', 'svc wallet new launches --phrase'],
      async run({ name, phrase, keychain }, { wallets }) {
        const { recovery_phrase, ...wallet } = await wallets.make(name, { phrase, keychain })
        const { text, notes } = madeOutcome(wallet)
        if (recovery_phrase === null) return { data: wallet, text, notes }
        return {
          data: { ...wallet, recovery_phrase },
          text: `${text}\n\n  ${recovery_phrase}\n`,
          notes: [
            'Write these words down: they are shown only once, and anyone who has them controls the wallet',
            ...notes,
          ],
        }
      },
    }),
    import: verb({
      about: 'Keep a key that you have, or name a program or a Ledger that signs',
      details:
        'FILE is a keypair of the Solana CLI, or holds base58 or a recovery phrase; without it, the key is asked for and not shown. With --signer-command no key is kept: the program gets the bytes of each message on standard input and prints the signature, in base58 or base64. With usb://ledger in place of FILE, the address of that key is kept, and the device is needed only to sign.',
      args: {
        name: NAME,
        file: text('File (0600) with the key, - for standard input, or usb://ledger', { placeholder: 'FILE' }),
      },
      flags: {
        account: integer('Account of a recovery phrase, as wallets count them from 0 (default 0)', {
          min: 0,
          max: MOST_ACCOUNTS,
        }),
        keychain: KEYCHAIN,
        // No key is kept for a program.
        signer_command: text('Program that signs, with its arguments; no shell reads it', {
          placeholder: 'COMMAND',
          conflicts: ['file', 'keychain'],
          needs: ['address'],
        }),
        address: text('Public key that the program signs for', { placeholder: 'ADDRESS', needs: ['signer_command'] }),
      },
      examples: [
        'svc wallet import treasury ~/.config/solana/id.json',
        'svc wallet import phantom --account 1',
        "svc wallet import cold 'usb://ledger?key=0'",
        'svc wallet import ledger --address 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --signer-command "/usr/local/bin/sign-on-device --path 0"',
      ],
      async run({ name, file, account = 0, keychain, signer_command, address = '' }, { wallets, ui }) {
        if (signer_command === undefined) {
          if (file !== undefined && isDeviceUrl(file)) {
            if (keychain) throw usage('the key stays in the Ledger: leave --keychain out', { param: '--keychain' })
            return madeOutcome(await wallets.import(name, { device: file }))
          }
          const key = await readSecretText(file, ui)
          return madeOutcome(await wallets.import(name, { text: key, account, keychain }))
        }
        return madeOutcome(await wallets.import(name, { address, command: signer_command }))
      },
    }),
    list: verb({
      about: 'List your wallets; the one in use is marked',
      examples: ['svc wallet list', 'svc wallet list --columns name,address'],
      async run(_, { wallets, settings }) {
        const used = await usedKeypair(settings)
        const all = (await wallets.list()).map((wallet) => ({ ...wallet, in_use: wallet.name === used }))
        return listOutcome(all, ['name', 'address', 'kind', 'in_use'])
      },
    }),
    use: verb({
      about: 'Sign with this wallet unless -k names another',
      details:
        'It sets `keypair` in the profile; `svc config unset keypair` returns to the keypair file of the Solana CLI.',
      args: { name: NAME },
      examples: ['svc wallet use treasury', 'svc wallet use ledger --profile mainnet'],
      async run({ name }, { wallets, settings }) {
        const wallet = await wallets.get(name)
        const { profile } = await settings.set('keypair', name)
        const used = await usedKeypair(settings)
        return {
          data: { ...wallet, profile },
          text: `Commands sign with the wallet ${name} (${wallet.address}).`,
          notes: used === name ? [] : [`SVC_KEYPAIR is set and takes precedence: ${used}`],
        }
      },
    }),
    address: verb({
      about: 'Print the address of a wallet, without its passphrase',
      args: {
        wallet: text('Name of a wallet, path of a keypair file or usb://ledger (default: the one in use)', {
          placeholder: 'WALLET',
        }),
      },
      examples: [
        'svc wallet address',
        'svc wallet address treasury -o plain',
        "svc wallet address 'usb://ledger?key=0'",
      ],
      async run({ wallet: named }, { wallet }) {
        const address = await wallet.address(named)
        return { data: { address }, rows: { columns: ['address'], rows: [[address]] }, text: address }
      },
    }),
    balance,
    send,
    reclaim,
    export: verb({
      about: 'Write the key of a wallet as a keypair file of the Solana CLI',
      details:
        'The file (0600) holds the key in clear: anyone who can read it controls the wallet. No file is replaced.',
      args: { name: NAME, file: required(text('File to make', { placeholder: 'FILE' })) },
      examples: ['svc wallet export treasury treasury.json', 'svc wallet export treasury treasury.json --yes'],
      async run({ name, file }, { wallets, ui }) {
        const wallet = await wallets.get(name)
        await ui.confirm(`Write the key of ${name} (${wallet.address}) in clear to ${file}?`)
        await wallets.export(name, file)
        return { data: { ...wallet, file }, text: `${file} holds the key of ${wallet.address} in clear.` }
      },
    }),
    delete: verb({
      about: 'Delete a wallet with its key',
      details: 'What it holds on chain is lost with the key, unless you have the key elsewhere.',
      args: { name: NAME },
      examples: ['svc wallet delete old-ops', 'svc wallet delete old-ops --yes'],
      async run({ name }, { wallets, ui, settings }) {
        const { address } = await wallets.get(name)
        await ui.confirm(`Delete the wallet ${name} (${address})? Without a copy of its key, what it holds is lost.`)
        const wallet = await wallets.delete(name)
        const isUsed = (await usedKeypair(settings)) === name
        return {
          data: wallet,
          text: `The wallet ${name} is deleted.`,
          notes: isUsed ? ['It is still the one in use: `svc config unset keypair`, or `svc wallet use` another'] : [],
        }
      },
    }),
  },
}

const usedKeypair = async (settings: { list(): Promise<{ name: string; value: unknown }[]> }) =>
  (await settings.list()).find(({ name }) => name === 'keypair')?.value

function madeOutcome(wallet: NamedWallet) {
  const { name, address } = wallet
  return {
    data: wallet,
    text: `The wallet ${name} has the address ${address}.`,
    notes: [`Sign with -k ${name}, or with every command: svc wallet use ${name}`],
  }
}

/** A recovery phrase of 24 words has some 200 characters, and 64 integers fewer than 300. */
const MAX_KEY_BYTES = 4096

/** The text of the key. Throws a problem for a file that others can read, and if there is no terminal to ask on. */
async function readSecretText(file: string | undefined, ui: Ui): Promise<string> {
  if (file === '-') {
    const bytes = await readBytes('-')
    if (bytes.length > MAX_KEY_BYTES) throw usage('standard input holds more than a key', { param: '<file>' })
    return Buffer.from(bytes).toString('utf8')
  }
  if (file !== undefined) return privateText(file)
  if (ui.interactive) return ui.askSecret('Key in base58, or recovery phrase (it is not shown)')
  throw usage('there is no key', { param: '<file>', next: 'name a file (0600) that holds it, or - for standard input' })
}

function privateText(file: string): string {
  try {
    return readOwn(file, { secret: true, maxBytes: MAX_KEY_BYTES })
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    throw privateFileProblem(error, { param: '<file>' })
  }
}
