/** The passport of a token in a browser: reads passport.json, proves its facts from the chain, and shows each with its mark. */
import { byId, make } from '../claim-page/browser/elements.ts'
import { foreignWords, PageFault } from '../claim-page/browser/page-fault.ts'
import { safeUrl } from '../claim-page/browser/site-files.ts'
import { nodeHost, SolanaNode } from '../claim-page/browser/solana-node.ts'
import { type Fact, type FactState, type ProvenFacts, proveFacts, type ShownVerdict } from './chain-facts.ts'
import { type Passport, readPassport } from './passport-file.ts'

const MARKS: Readonly<Record<FactState, string>> = {
  proven: '✓ proven',
  changed: '✗ changed',
  unproven: '? not proven',
}

async function start(): Promise<void> {
  try {
    const answer = await fetch('passport.json')
    if (!answer.ok) throw new Error('passport.json is missing')
    const passport = readPassport(await answer.text())
    showHead(passport)
    await prove(passport, passport.nodes)
  } catch (error) {
    summarize(foreignWords(error instanceof Error ? error.message : error), 'unproven')
  }
}

function showHead(passport: Passport): void {
  const title = passport.symbol || passport.name || 'Token passport'
  document.title = `${title}: token passport`
  byId('title').textContent = title
  byId('mint').textContent = passport.mint
  byId('written').textContent = `Written at ${passport.writtenAt}`
  const input = byId('url') as HTMLInputElement
  input.value = passport.nodes[0] ?? ''
  byId('node').addEventListener('submit', (event) => {
    event.preventDefault()
    const url = safeUrl(input.value.trim())
    if (url === null) return summarize('A node needs an https URL.', 'unproven')
    void prove(passport, [url])
  })
}

/** The last start wins, so that a slow node does not overwrite a later answer. */
let started = 0

async function prove(passport: Passport, nodes: readonly string[]): Promise<void> {
  const own = ++started
  summarize('Reading the chain …', 'unproven')
  const node = new SolanaNode(nodes, passport.genesisHash)
  try {
    const proven = await proveFacts((method, params) => node.call(method, params), passport)
    if (own === started) show(proven, nodeHost(nodes[0] ?? ''))
  } catch (error) {
    if (own !== started) return
    byId('facts').replaceChildren()
    summarize(`Nothing is proven. ${faultText(error)}`, 'changed')
  }
}

function faultText(error: unknown): string {
  if (error instanceof PageFault) {
    const host = foreignWords(error.values.node, 80)
    return error.key === 'wrongCluster'
      ? `The node ${host} is of another cluster.`
      : `The node ${host} does not answer.`
  }
  return foreignWords(error instanceof Error ? error.message : error)
}

function show({ slot, facts, verdicts }: ProvenFacts, host: string): void {
  const count = (state: FactState) => facts.filter((fact) => fact.state === state).length
  const [proven, changed, open] = [count('proven'), count('changed'), count('unproven')]
  const parts = [
    `${proven} of ${facts.length} facts are proven on chain at slot ${slot} by ${host}.`,
    changed === 0 ? '' : ` ${changed} changed.`,
    open === 0 ? '' : ` ${open} cannot be proven here.`,
    ` ${verdictText(verdicts)}`,
  ]
  summarize(parts.join(''), changed > 0 ? 'changed' : worstState(verdicts))
  const groups = new Map<string, Fact[]>()
  for (const fact of facts) groups.set(fact.group, [...(groups.get(fact.group) ?? []), fact])
  byId('facts').replaceChildren(
    make('section', { class: 'verdicts' }, [
      make('h2', { text: 'Verdicts on known risks' }),
      make('dl', {}, verdicts.map(verdictRow)),
    ]),
    ...[...groups].map(([group, own]) =>
      make('section', {}, [make('h2', { text: group }), make('dl', {}, own.map(factRow))]),
    ),
  )
}

const countIn = (verdicts: readonly ShownVerdict[], ...levels: ShownVerdict['level'][]) =>
  verdicts.filter(({ level }) => levels.includes(level)).length

function verdictText(verdicts: readonly ShownVerdict[]): string {
  const [dangers, warnings, unknowns] = [
    countIn(verdicts, 'danger'),
    countIn(verdicts, 'warning'),
    countIn(verdicts, 'unknown'),
  ]
  if (dangers + warnings + unknowns === 0) return 'No known risk was found.'
  const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`
  const found = [
    ...(dangers === 0 ? [] : [plural(dangers, 'danger')]),
    ...(warnings === 0 ? [] : [plural(warnings, 'warning')]),
    ...(unknowns === 0 ? [] : [plural(unknowns, 'unknown')]),
  ]
  return `Known risks: ${found.join(', ')}.`
}

/** A token with a danger never looks proven, and one with a risk that is not known to be closed neither. */
function worstState(verdicts: readonly ShownVerdict[]): FactState {
  if (countIn(verdicts, 'danger') > 0) return 'changed'
  return countIn(verdicts, 'warning', 'unknown') > 0 ? 'unproven' : 'proven'
}

function verdictRow({ risk, level, finding, isProven, note }: ShownVerdict): HTMLElement {
  const state = level === 'danger' ? 'changed' : level === 'ok' && isProven ? 'proven' : 'unproven'
  const sign = level === 'danger' ? '✗' : state === 'proven' ? '✓' : '?'
  const by = isProven ? 'proven' : 'the report’s word'
  return make('div', { class: 'fact' }, [
    make('dt', {}, [
      make('span', { text: risk.replaceAll('_', ' ') }),
      make('span', { class: 'mark', text: `${sign} ${level}, ${by}`, attributes: { 'data-state': state } }),
    ]),
    make('dd', { class: 'value', text: finding }),
    note === undefined ? null : make('dd', { class: 'note', text: note }),
  ])
}

function factRow({ name, value, state, note }: Fact): HTMLElement {
  return make('div', { class: 'fact' }, [
    make('dt', {}, [
      make('span', { text: name }),
      make('span', { class: 'mark', text: MARKS[state], attributes: { 'data-state': state } }),
    ]),
    make('dd', { class: 'value', text: value }),
    note === undefined ? null : make('dd', { class: 'note', text: note }),
  ])
}

function summarize(text: string, state: FactState): void {
  const summary = byId('summary')
  summary.textContent = text
  summary.dataset.state = state
}

void start()
