/** Writes the manual pages from the declared commands, in the language of man(7). */
import { uncapitalized } from '../../src/platform/printable.ts'
import type { CommandTree, GlobalOptionTree, InputTree, NounTree, VerbTree } from './command-tree.ts'

/** The name of the manual, in the middle of the first line. */
const MANUAL = 'svc manual'
const DESCRIPTION = 'token launches on Solana, from a terminal and over HTTP'

/** All pages by their file names. */
export function manualPages(tree: CommandTree): Map<string, string> {
  const pages = new Map([['svc.1', rootPage(tree)]])
  for (const noun of tree.commands) pages.set(`svc-${noun.name}.1`, nounPage(noun, tree))
  return pages
}

/** Text without requests or escapes of roff; a dash stays the character that is typed. */
const roff = (text: string) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('`', '\\(ga')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha')
    .replace(/^([.'])/gm, '\\&$1')
    // A page is of ASCII alone, which every version of roff reads.
    .replace(
      /[^\p{ASCII}]/gu,
      (character) => `\\[u${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
const bold = (text: string) => `\\fB${roff(text)}\\fR`
const italic = (text: string) => `\\fI${roff(text)}\\fR`

/** Text with the parts between backticks in bold. */
const prose = (text: string) =>
  text
    .split('`')
    .map((part, at) => (at % 2 === 1 ? bold(part) : roff(part)))
    .join('')
const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`)

const heading = (title: string, version: string) =>
  `.TH "${roff(title.toUpperCase())}" "1" "" "svc ${roff(version)}" "${MANUAL}"`

const tagged = (term: string, about: string) => ['.TP', term, about === '' ? '\\&' : about]

function rootPage({ version, commands, global_options, exit_codes }: CommandTree): string {
  return page([
    heading('svc', version),
    '.SH NAME',
    `svc \\- ${DESCRIPTION}`,
    '.SH SYNOPSIS',
    `${bold('svc')} ${italic('noun')} ${italic('verb')} [${italic('options')}]`,
    '.SH DESCRIPTION',
    'The answer goes to standard output; progress, warnings and questions go to standard error.',
    `Each noun has its own page, such as ${bold('svc-airdrops')}(1).`,
    '.SH COMMANDS',
    ...commands.flatMap(({ name, about }) => tagged(`${bold(`svc-${name}`)}(1)`, prose(sentence(about)))),
    '.SH OPTIONS',
    'They may be before or after the noun.',
    ...global_options.flatMap(globalOption),
    '.SH EXIT STATUS',
    ...exit_codes.flatMap(({ code, meaning }) => tagged(bold(String(code)), prose(sentence(meaning)))),
    '.SH ENVIRONMENT',
    ...tagged(bold('SVC_…').replace('…', '\\(**'), `Each setting; ${bold('svc config list')} shows them.`),
    ...tagged(bold('CI'), 'No questions, colours or animations.'),
    ...tagged(bold('NO_DNA'), 'The same.'),
    ...tagged(bold('NO_COLOR'), 'No colours.'),
    ...tagged(bold('CLICOLOR=0'), 'No colours.'),
  ])
}

function nounPage({ name, aliases, about, verbs, groups }: NounTree, { version, commands }: CommandTree): string {
  const others = commands.filter((noun) => noun.name !== name).map((noun) => `${bold(`svc-${noun.name}`)}(1)`)
  return page([
    heading(`svc-${name}`, version),
    '.SH NAME',
    `svc\\-${roff(name)} \\- ${roff(uncapitalized(about))}`,
    '.SH SYNOPSIS',
    ...verbs.flatMap((verb) => [synopsis(verb), '.br']),
    ...(aliases.length === 0 ? [] : ['.SH OTHER NAMES', aliases.map(bold).join(', ')]),
    ...(groups.length === 0
      ? []
      : ['.SH GROUPS', ...groups.flatMap((group) => tagged(bold(group.name), prose(sentence(group.about))))]),
    '.SH COMMANDS',
    ...verbs.flatMap(verbSection),
    '.SH SEE ALSO',
    [`${bold('svc')}(1)`, ...others].join(', '),
  ])
}

const synopsis = ({ command, arguments: declared, options }: VerbTree) =>
  [
    bold(command),
    ...declared.map(({ name, required, kind }) => {
      const shown = `${italic(name)}${kind === 'list' ? '...' : ''}`
      return required ? shown : `[${shown}]`
    }),
    ...(options.length > 0 ? [`[${italic('options')}]`] : []),
  ].join(' ')

function verbSection(verb: VerbTree): string[] {
  return [
    `.SS "${roff(verb.command)}"`,
    prose(sentence(verb.about)),
    ...(verb.aliases.length === 0 ? [] : [`Also: ${verb.aliases.map(bold).join(', ')}.`]),
    ...(verb.details === null ? [] : ['.PP', prose(sentence(verb.details))]),
    ...[...verb.arguments, ...verb.options].flatMap(inputItem),
    ...(verb.examples.length === 0
      ? []
      : ['.PP', 'Examples:', '.PP', '.nf', ...verb.examples.map((line) => `  ${roff(line)}`), '.fi']),
  ]
}

function inputItem(input: InputTree): string[] {
  const { flag, short, name, placeholder, about, choices, required, unless } = input
  const names = [short, flag]
    .filter((text) => text !== null)
    .map(bold)
    .join(', ')
  const term = flag === null ? italic(name) : `${names}${placeholder === null ? '' : ` ${italic(placeholder)}`}`
  const taken = choices.map(({ value, meaning }) =>
    meaning === null ? bold(value) : `${bold(value)} (${roff(meaning)})`,
  )
  const notes = [
    ...(taken.length > 0 ? [`One of ${taken.join(', ')}.`] : []),
    ...(required ? [unless === null ? 'Required.' : `Required without ${bold(unless)}.`] : []),
  ]
  return tagged(term, [prose(sentence(about)), ...notes].join('\n'))
}

function globalOption({ flag, short, placeholder, about }: GlobalOptionTree): string[] {
  const names = [short, flag]
    .filter((text) => text !== null)
    .map(bold)
    .join(', ')
  return tagged(`${names}${placeholder === null ? '' : ` ${italic(placeholder)}`}`, prose(sentence(about)))
}

const page = (lines: readonly string[]) => `${lines.join('\n')}\n`
