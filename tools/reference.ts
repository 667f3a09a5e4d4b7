/** Writes docs/cli.md from the command declarations; with --check, fails if the file does not match them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { CommandInput, Verb } from '../commands/cli/command.ts'
import { EXIT_CODES, GLOBAL_OPTIONS, GROUPS, NOUNS } from '../commands/cli/nouns.ts'
import { flagName, flagNames } from '../commands/cli/parsed-command.ts'
import { alsoSpelled, choicesText, usageOf } from '../commands/cli/program.ts'

const FILE = 'docs/cli.md'

/** Escapes a text for a cell of a Markdown table. */
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``

function inputRow(name: string, input: CommandInput): string {
  const { about, required, unless, kind } = input
  const choices = choicesText(input, code)
  const allowed = choices === '' ? '' : `: ${choices}`
  const other = unless?.map((key) => code(flagName(key))).join(' or ')
  const notes = [
    ...(required ? [other === undefined ? 'required' : `required without ${other}`] : []),
    ...(kind === 'list' && name.includes('--') ? ['comma-separated or repeated'] : []),
  ]
  return `| ${code(name)} | ${cell(about)}${allowed}${notes.length > 0 ? ` (${notes.join(', ')})` : ''} |`
}

function flagTitle(key: string, input: CommandInput): string {
  if (input.kind === 'boolean') return flagNames(key, input)
  const value = input.placeholder || key
  return `${flagNames(key, input)} ${input.bare ? `[${value}]` : `<${value}>`}`
}

function verbSection(
  name: string,
  { about, details, args, flags, examples, calls }: Verb,
  aliases: readonly string[] = [],
): string[] {
  const rows = [
    ...Object.entries(args).map(([key, input]) => inputRow(key, input)),
    ...Object.entries(flags).map(([key, input]) => inputRow(flagTitle(key, input), input)),
  ]
  return [
    `### svc ${name}`,
    `${about}${alsoSpelled(aliases.map(code))}.${details ? ` ${cell(details)}` : ''}`,
    `\`\`\`\nsvc ${name}${Object.entries(args).map(usageOf).join('')}${Object.keys(flags).length > 0 ? ' [options]' : ''}\n\`\`\``,
    ...(rows.length > 0 ? [`| Input | Meaning |\n|---|---|\n${rows.join('\n')}`] : []),
    ...(examples.length > 0 ? [`\`\`\`sh\n${examples.join('\n')}\n\`\`\``] : []),
    ...(calls.length > 0
      ? [`Calls ${calls.map(([method, path]) => code(`${method.toUpperCase()} ${path}`)).join(', ')}.`]
      : []),
  ]
}

const nounsOf = (group: string) =>
  NOUNS.filter((noun) => noun.group === group)
    .map(({ name, summary }) => `- [${name}](#${name}): ${summary}`)
    .join('\n')

const INTRODUCTION = `# Command line

\`\`\`
svc <noun> <verb> [options]
\`\`\`

${GROUPS.map((group) => `**${group}**\n\n${nounsOf(group)}`).join('\n\n')}

Every command has [the same options](#options-of-every-command), and some [things in common](#every-command).`

const IN_COMMON = `The answer goes to stdout, everything else to stderr: progress, warnings, questions, the cursor of the next page.

- \`-o table\` (default) is for people. \`-o json\` (\`--json\`) prints the \`data\` of the answer as one document,
  and an error as the API's error envelope on stderr. \`-o plain\` is one line for each record with tabs between the
  fields and no heading; tab, line break and backslash inside a field are written \`\\t\`, \`\\n\`, \`\\\\\`; null is
  empty.
- \`--columns\`, \`--sort\`, \`--filter\`, \`--jq\` and \`--template\` choose what is shown of the answer. A pager
  shows text that is taller than the screen ([in the terminal](terminal.md#selecting-output)).
- On a terminal, svc asks for missing required inputs and checks each answer at once. Then it asks for the few options
  that most people set. At the end it prints the same as one command line. Without a terminal, with \`--no-input\`, or
  if \`CI\` or \`NO_DNA\` is set, a missing input is an error that names it. On a terminal, \`keys delete\`,
  \`webhooks delete\` and commands that sign ask before they act; \`--yes\` skips that.
- A command that signs uses the keypair of \`-k FILE\`, otherwise of the setting \`keypair\` (\`SVC_KEYPAIR\` or a
  profile, never a folder's \`svc.json\`), otherwise the Solana CLI's (\`keypair_path\` of its settings, or
  \`~/.config/solana/id.json\`). Others must not be able to read the file. It shows what the transaction would do,
  signs here, submits and waits. On mainnet-beta and on unknown clusters it asks first; without a terminal, \`--yes\`
  is required there.
- A command uses the API of \`--api URL\` if you give one (its key: \`--api-key-file\`, or \`SVC_API_KEY\` or
  \`SVC_API_KEY_FILE\`). Otherwise it uses the running daemon of the data folder. If there is none, it runs the same
  routes in its own process. \`svc merkle\` uses network and database only with \`--persist\`, \`--id\`, \`list\` and
  \`get\`.
- Settings come from flags, then \`SVC_*\` variables, then the nearest \`svc.json\`, then the profile, then the
  default; \`svc config list\` shows which.

Exit codes: ${EXIT_CODES.join(' · ')}`

async function reference(): Promise<string> {
  const parts = [INTRODUCTION]
  for (const { name, summary, aliases, load } of NOUNS) {
    const noun = await load()
    parts.push(`## ${name}`, `${summary}${alsoSpelled(aliases?.map(code))}.`)
    if ('verb' in noun) parts.push(...verbSection(name, noun.verb))
    else
      for (const [verb, declared] of Object.entries(noun.verbs)) {
        const others = Object.entries(noun.aliases ?? {}).filter(([, first]) => first === verb)
        parts.push(
          ...verbSection(
            `${name} ${verb}`,
            declared,
            others.map(([alias]) => alias),
          ),
        )
      }
  }
  const options = GLOBAL_OPTIONS.map(({ flags, about }) => `| ${code(flags)} | ${cell(about)} |`)
  parts.push('## Every command', IN_COMMON, '## Options of every command', 'They may be before or after the noun.')
  parts.push(`| Option | Meaning |\n|---|---|\n${options.join('\n')}`)
  return `${parts.join('\n\n')}\n\nThis page is made by \`npm run docs\` from the commands.\n`
}

const referenceText = await reference()
if (!process.argv.includes('--check')) {
  mkdirSync('docs', { recursive: true })
  writeFileSync(FILE, referenceText)
} else if (readFileSync(FILE, 'utf8') !== referenceText) {
  process.stderr.write(`${FILE} does not match the commands; run: npm run docs\n`)
  process.exitCode = 1
}
