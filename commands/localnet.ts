/** `svc localnet`: the embedded chain of the data folder, its clock, its SOL and its programs. */
import { CONSENSUS_NAMES, CONSENSUSES } from '../src/solana/constants.ts'
import { MAX_U64 } from '../src/solana/u64.ts'
import { LAMPORT_DECIMALS, rawUnits, solOf } from './cli/amounts.ts'
import { type CommandOutcome, choiceOf, integer, listOf, type Noun, required, text, verb } from './cli/command.ts'
import { listOutcome } from './cli/reads.ts'
import type { LocalnetReport, PullReport, Session } from './cli/session.ts'
import { outliveReaders } from './cli/standard-output.ts'
import { fieldLines } from './ui/field-lines.ts'
import { EXIT, failure, usage } from './ui/problem.ts'
import { timeText } from './ui/times.ts'
import { isWalletName } from './wallet/names.ts'

const TEN_YEARS = 315_360_000

export const localnetNoun: Noun = {
  verbs: {
    start: verb({
      about: 'Serve only the embedded chain, until stopped',
      details:
        'JSON-RPC on 127.0.0.1:8899 and WebSocket on the next port. `svc serve` serves the chain too, beside the API.',
      flags: {
        rpc_host: text('Address to listen on (default 127.0.0.1)', { placeholder: 'HOST' }),
        rpc_port: integer('Port of the JSON-RPC, 0 for any (default 8899)', { min: 0, max: 65534 }),
        consensus: choiceOf(CONSENSUSES, 'Consensus of the chain (default: its own; alpenglow for a new one)'),
      },
      examples: ['svc localnet start', 'svc localnet start --rpc-port 0 --consensus tower'],
      async run(flags, { localnet, ui }) {
        let shown = Promise.resolve()
        outliveReaders()
        await localnet.start(flags, ({ notes, ...data }) => {
          shown = ui.show({
            data,
            rows: { columns: ['rpc_url', 'ws_url'], rows: [[data.rpc_url, data.ws_url]] },
            text: `Embedded chain at ${data.rpc_url} (WebSocket ${data.ws_url})`,
            notes: [...notes, 'Stop with Ctrl-C'],
          })
        })
        await shown
        return { data: undefined }
      },
    }),
    status: verb({
      about: 'Show slot, time, counts and programs of the embedded chain',
      examples: ['svc localnet status', 'svc localnet status --json'],
      run: async (_, { localnet }) => statusOutcome(await localnet.status(), await localnet.elsewhere()),
    }),
    airdrop: verb({
      about: 'Give an address SOL of the embedded chain',
      args: { address: required(text('Address that gets it')), sol: required(text('Amount in SOL, like 1.5')) },
      examples: [
        'svc localnet airdrop 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g 10',
        'svc localnet airdrop 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g 0.5 --json',
      ],
      async run({ address, sol }, { localnet, ui }) {
        const { signature, lamports, balance } = await localnet.airdrop(address, lamportsInput(sol))
        await warnIfElsewhere(localnet, ui)
        const data = { address, lamports, balance, signature }
        return { data, text: `${address} has ${solOf(BigInt(balance))} SOL.`, notes: [`signature ${signature}`] }
      },
    }),
    wallet: verb({
      about: 'Make a keypair file for the embedded chain, and put SOL on it',
      details:
        'An existing file is kept, and its wallet gets the SOL. Use it with -k FILE; never put real money on it.',
      args: { file: required(text('Keypair file to make (0600)')), sol: text('Amount in SOL (default 10)') },
      examples: ['svc localnet wallet wallet.json', 'svc localnet wallet payer.json 25 --json'],
      async run({ file, sol = '10' }, { localnet, ui, wallet }) {
        const lamports = lamportsInput(sol)
        const made = await wallet.make(file)
        const path = isWalletName(file) ? `./${file}` : file
        const address = await wallet.address(path)
        const { balance } = await localnet.airdrop(address, lamports)
        await warnIfElsewhere(localnet, ui)
        return {
          data: { address, file, made, balance },
          text: `${address} has ${solOf(BigInt(balance))} SOL.`,
          notes: [made ? `${file} was made; sign with -k ${path}` : `${file} was there already`],
        }
      },
    }),
    advance: verb({
      about: 'Move the clock of the embedded chain ahead',
      args: { seconds: required(integer('How far, in seconds', { min: 1, max: TEN_YEARS })) },
      examples: ['svc localnet advance 86400', 'svc localnet advance 3600 --json'],
      async run({ seconds }, { localnet }) {
        const { slot, unix_timestamp } = await localnet.advance(seconds)
        const time = timeOf(unix_timestamp)
        return { data: { slot, unix_timestamp, time }, text: `It is ${timeText(time)}, slot ${slot}.` }
      },
    }),
    reset: verb({
      about: 'Delete the embedded chain: every account, balance and transaction',
      details: 'Refused while a process uses the chain. The program cache stays.',
      examples: ['svc localnet reset', 'svc localnet reset --yes'],
      async run(_, { localnet, ui }) {
        await localnet.refuseWhileInUse()
        await ui.confirm('Delete the embedded chain of this data folder? Its accounts and history are gone for good.')
        const data = await localnet.reset()
        const nothing = data.files.length === 0
        return { data, text: nothing ? 'There was no chain to delete.' : 'Deleted; the next use begins a new chain.' }
      },
    }),
    pull: verb({
      about: 'Fill the program cache from a cluster or a folder',
      details:
        'Reads each program, the accounts it needs, the slot time, the rent and the consensus from --url (default: the cluster of the settings, otherwise mainnet-beta), or copies <program id>.so, accounts/<address>.json and cluster.json from a folder. A running chain uses them from its next start on.',
      flags: {
        from: text('Folder to copy from, instead of a cluster', { placeholder: 'DIR' }),
        programs: listOf('Only these: dbc, damm-v2, token-metadata, core, lock, distributor, squads, or program ids', {
          placeholder: 'NAME,…',
        }),
      },
      examples: ['svc localnet pull', 'svc localnet pull --url https://rpc.example.com --programs dbc,core'],
      async run(request, { localnet, ui }) {
        return pullOutcome(await localnet.pull(request, ui.progress('Pulling')))
      },
    }),
  },
}

/** Converts decimal SOL to lamports, exactly; throws a usage problem that says what is wrong. */
export function lamportsInput(sol: string): bigint {
  const lamports = rawUnits(sol, LAMPORT_DECIMALS, '<sol>')
  if (lamports === 0n || lamports > MAX_U64)
    throw usage(`<sol> must be more than 0 and at most ${solOf(MAX_U64)}`, { param: '<sol>' })
  return lamports
}

/** SOL of this chain is of no use to commands that work on another one. */
async function warnIfElsewhere(localnet: Session['localnet'], ui: Session['ui']): Promise<void> {
  const elsewhere = await localnet.elsewhere()
  if (elsewhere !== null) ui.warn(elsewhere)
}

const timeOf = (unixSeconds: number) => new Date(unixSeconds * 1000).toISOString()

function statusOutcome(report: LocalnetReport, elsewhere: string | null): CommandOutcome {
  const { programs, pid, ...rest } = report
  const data = { ...rest, time: timeOf(report.unix_timestamp), pid, programs }
  const served = pid === null ? 'no (opened for this answer)' : `${report.rpc_url} · ${report.ws_url} (pid ${pid})`
  const fields: [string, string][] = [
    ['SLOT', String(report.slot)],
    ['TIME', timeText(data.time)],
    ['TRANSACTIONS', String(report.transactions)],
    ['ACCOUNTS', String(report.accounts)],
    ['SLOT TIME', `${report.slot_ms} ms`],
    ['CONSENSUS', consensusText(report)],
    ['RENT', `${report.lamports_per_byte} lamports per byte`],
    ['SERVED', served],
    ['CLUSTER', report.cluster],
    ['DATA FOLDER', report.data_dir],
    ['PROGRAMS', report.programs_dir],
  ]
  const missing = programs.filter(({ loaded }) => !loaded)
  return {
    data,
    text: [
      ...fieldLines(fields),
      ...programs.map(({ name, id, loaded }) => `  ${(loaded ? 'loaded' : 'missing').padEnd(12)}${name} (${id})`),
    ].join('\n'),
    notes: [
      ...report.warnings,
      ...(missing.length === 0 ? [] : [`${missing.length} missing: fill the program cache with \`svc localnet pull\``]),
      ...(elsewhere === null ? [] : [elsewhere]),
    ],
  }
}

const consensusText = ({ consensus, alpenglow_slot }: Pick<LocalnetReport, 'consensus' | 'alpenglow_slot'>) =>
  alpenglow_slot === null ? CONSENSUS_NAMES[consensus] : `${CONSENSUS_NAMES[consensus]} since slot ${alpenglow_slot}`

const ELSEWHERE =
  'name another RPC node with --url URL, or copy ~/.cache/svc/programs of a machine that has it, and pull with --from DIR'

function pullOutcome(report: PullReport): CommandOutcome {
  const { items, source, programs_dir } = report
  const count = (status: string) => items.filter((item) => item.status === status).length
  const failed = count('failed')
  if (report.tried.some((each) => each.source === source)) {
    const tried = report.tried.map((each) => `from ${each.source}: ${each.error}`).join('; ')
    throw failure(`nothing could be pulled ${tried}; a folder of another machine is read with --from DIR`, {
      next: ELSEWHERE,
      details: { ...report },
    })
  }
  const missing = items.filter(({ status }) => status === 'missing')
  const lacking = missing.some(({ kind }) => kind === 'program')
  return {
    ...listOutcome(items, ['status', 'kind', 'name', 'address', 'size', 'sha256', 'error']),
    data: report,
    notes: [
      `${count('written')} written, ${count('unchanged')} unchanged, ${count('pinned') === 0 ? '' : `${count('pinned')} pinned, `}${missing.length} missing, ${failed} failed: ${source} → ${programs_dir}`,
      settingsNote(report),
      ...(lacking ? [`${source} does not have every program; ${ELSEWHERE}`] : []),
      ...(failed > 0 ? [`Pull again, or ${ELSEWHERE}`] : []),
      ...(missing.some(({ kind }) => kind === 'account')
        ? ['A new chain makes its own accounts for the missing ones.']
        : []),
    ],
    exitCode: failed > 0 || lacking ? EXIT.failed : EXIT.done,
  }
}

function settingsNote({ settings: { status, settings, error }, source }: PullReport): string {
  if (settings === null) {
    const why = error === null ? `${source} has none` : error
    return `Slot time, rent and consensus were not read (${why}): the chain keeps its own.`
  }
  const { slot_ms, rent, consensus } = settings
  return `Slots of ${slot_ms} ms, ${CONSENSUS_NAMES[consensus]}, rent of ${rent.lamports_per_byte} lamports per byte × ${rent.exemption_threshold} (${status})`
}
