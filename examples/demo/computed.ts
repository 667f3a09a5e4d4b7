/** What needs no program: the figures and the transactions of a launch, and an airdrop's claim page, on a machine that reaches no cluster. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildCurve, buildDbcLaunch } from '../../src/chain/programs/dbc/index.ts'
import { subjectOf } from '../../src/claim-page/browser/site-files.ts'
import { lookUpWallet } from '../../src/claim-page/browser/wallet-lookup.ts'
import { keyFromBase58 } from '../../src/merkle/base58.ts'
import { STANDARD_PRESET } from '../../src/operations/pools/presets.ts'
import { freshKey } from '../../src/solana/signatures.ts'
import { type Options, runCommand } from './program.ts'

const MARK = 'computed here, not executed'
const LIST = 'examples/recipients.csv'
const MINT = 'So11111111111111111111111111111111111111112'

export async function computed({ dataDir, daemon, report }: Options): Promise<void> {
  const root = resolve(import.meta.dirname, '../..')
  /** Shows a command's answer as a person sees it. */
  const show = async (...args: string[]) => {
    const { stdout, stderr, exitCode } = await runCommand({ root, dataDir, report }, args)
    if (exitCode !== 0) throw new Error(`svc ${args.join(' ')} ended with ${exitCode}: ${stderr}`)
    report.note(stdout)
  }

  await report.step(`svc pools preview: the built-in preset with a first buy of 0.5 SOL (${MARK})`, async () => {
    const preview = await daemon.svc('pools', 'preview', '--buy', '0.5')
    report.expect(preview.preset === 'standard' && preview.points.length > 2, `preset ${preview.preset}`)
    await show('pools', 'preview', '--buy', '0.5')
    return `${preview.points.length} points of the curve`
  })
  await report.step(`the transactions of this launch, built and decoded whole (${MARK})`, async () => {
    const [creator, mint, config, platform] = Array.from({ length: 4 }, () => freshKey().address)
    const built = await buildDbcLaunch({
      ...{ creator: creator!, mint: mint!, config: config!, feeClaimer: platform!, leftoverReceiver: platform! },
      curve: await buildCurve(STANDARD_PRESET),
      ...{ name: 'Demo Launch', symbol: 'LNCH', uri: 'https://example.com/lnch.json', buyLamports: 500_000_000n },
      ...{ tip: null, recentBlockhash: MINT, computeUnitPrice: 0n },
    })
    report.expect(built.length === 2, `${built.length} transactions`)
    for (const { transaction } of built) {
      await show('tx', 'decode', Buffer.from(transaction).toString('base64'), '--offline')
    }
    return 'config; then pool and first buy'
  })
  await report.step(`an airdrop's tree and claim page, with a wallet looked up (${MARK})`, async () => {
    const tree = await daemon.svc('merkle', 'build', LIST, '--mint', MINT, '--decimals', '9', '--persist')
    const page = join(dataDir, 'page')
    await daemon.svc('airdrops', 'page', tree.id, '--out', page)
    const [wallet, amount] = readFileSync(join(root, LIST), 'utf8').trim().split('\n')[600]!.split(',') as string[]
    const subject = subjectOf(JSON.parse(readFileSync(join(page, 'airdrops.json'), 'utf8')), 'airdrops.json')
    // The page itself looks a wallet up in this way, in the visitor's browser.
    const [found] = await lookUpWallet(subject, keyFromBase58(wallet!)!, async (path) => readFileSync(join(page, path)))
    const [whole, fraction = ''] = amount!.split('.')
    const raw = BigInt(`${whole}${fraction.padEnd(9, '0')}`)
    report.expect(found?.amount === raw, `${wallet} gets ${found?.amount}, the list says ${amount}`)
    return `${tree.leaf_count} wallets; ${wallet!.slice(0, 8)}… may claim ${amount}`
  })
}
