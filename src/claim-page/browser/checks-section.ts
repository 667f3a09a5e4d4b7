/** Shows what the page has checked, and lets a visitor have the whole list checked. */

import type { ClaimSession } from './claim-session.ts'
import { button, byId, codesOf, fill, make } from './elements.ts'
import type { PageSession } from './page-session.ts'
import type { PageAirdrop, PageSubject } from './site-files.ts'
import type { CheckReport } from './verify.ts'

let report: CheckReport | null = null
let worker: Worker | null = null

/** Trusted Types require a policy for URLs that become code; this is the only one. */
function workerUrl(): string {
  const { trustedTypes } = globalThis as {
    trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } }
  }
  return (
    trustedTypes?.createPolicy('claim-page', { createScriptURL: () => 'verify.js' }).createScriptURL('') ?? 'verify.js'
  )
}

function checkWholeList(session: ClaimSession, redraw: () => void): void {
  const { subject } = session
  const total = subject.index.count
  report = { checked: 0, total }
  try {
    worker ??= new Worker(workerUrl(), { type: 'module' })
  } catch {
    report = { checked: 0, total, fault: 'fileMissing', values: { file: 'verify.js' } }
  }
  if (worker) {
    worker.onmessage = ({ data }: MessageEvent<CheckReport>) => {
      report = data
      redraw()
    }
    worker.onerror = () => {
      report = { checked: 0, total, fault: 'fileMissing', values: { file: 'verify.js' } }
      redraw()
    }
    worker.postMessage(subject)
  }
  redraw()
}

const CLUSTERS: Readonly<Record<string, string>> = {
  mainnet: 'Solana Mainnet',
  devnet: 'Solana Devnet',
  testnet: 'Solana Testnet',
}

export const clusterWords = ({ clusterName }: PageSubject): string => CLUSTERS[clusterName] ?? 'Solana Localnet'

export function drawChecks(session: ClaimSession): void {
  const section = byId('checks')
  const { rows, state, texts, subject, address } = session
  if (address === null) {
    fill(section, [])
    return
  }
  const cluster = clusterWords(subject)
  const roots = state?.rows.map(
    ({ fault }) => fault !== 'otherRoot' && fault !== 'notOnChain' && fault !== 'foreignDistributor',
  )
  const isTampered = session.fault?.key === 'listTampered'
  const isElsewhere = session.fault?.key === 'wrongCluster'
  const listed = rows !== null && rows.length > 0
  const checks = [
    check(session, texts.text('checkIndex'), rows === null ? (isTampered ? false : null) : true),
    listed && check(session, texts.text('checkProof'), true),
    listed && check(session, texts.text('checkRoot'), roots?.every(Boolean) ?? null),
    listed && check(session, texts.text('checkGenesis', { cluster }), state ? true : isElsewhere ? false : null),
  ]
  const airdrops = listed ? [...new Set(rows.map(({ airdrop }) => airdrop))] : subject.airdrops.slice(0, 1)
  fill(section, [
    make('h2', { text: texts.text('checksHeading'), attributes: { id: 'checks-heading' } }),
    make('ul', { class: 'checks' }, [...checks, wholeList(session)]),
    ...airdrops.map((airdrop) => fingerprints(session, airdrop)),
  ])
}

/** One line of what was checked; null is not checked yet. */
export function check({ texts }: PageSession, words: string, passed: boolean | null): HTMLElement {
  const [state, sign] = passed === null ? ['waiting', '·'] : passed ? ['passed', '✓'] : ['failed', '✕']
  const label = texts.text(passed === null ? 'checkWaiting' : passed ? 'checkPassed' : 'checkFailed')
  return make('li', { class: state }, [
    make('span', { class: 'sign', text: sign, attributes: { 'aria-hidden': 'true' } }),
    make('span', {}, [make('span', { class: 'unseen', text: `${label}: ` }), words]),
  ])
}

function wholeList(session: ClaimSession): HTMLElement {
  const { texts, subject } = session
  const rows = texts.number(subject.index.count)
  if (report?.fault === null) return check(session, texts.text('checkWhole', { rows }), true)
  if (report?.fault) return check(session, texts.text(report.fault, report.values), false)
  const item = check(
    session,
    report
      ? texts.text('checkWholeRunning', { checked: texts.number(report.checked), rows })
      : texts.text('checkWholeOpen', { rows }),
    null,
  )
  if (report === null) {
    const bytes = subject.airdrops.reduce((sum, { rowBytes, leafCount }) => sum + rowBytes * leafCount, 0)
    const size = bytes < 100_000 ? `${texts.number(Math.ceil(bytes / 1_000))} kB` : `${(bytes / 1e6).toFixed(1)} MB`
    const start = () => checkWholeList(session, () => drawChecks(session))
    item.lastElementChild?.append(make('br'), button(texts.text('checkWholeButton', { size }), start, 'plain'))
  }
  return item
}

function fingerprints(
  { texts }: ClaimSession,
  { root, listHash, distributor, mint, symbol, name }: PageAirdrop,
): HTMLElement {
  return make('details', {}, [
    make('summary', { text: name || symbol || texts.text('distributor') }),
    codesOf([
      [texts.text('fingerprint'), root],
      [texts.text('listHash'), listHash],
      [texts.text('distributor'), distributor],
      [texts.text('mint'), mint],
    ]),
  ])
}
