/** `svc upgrade`: how to install a newer version. */
import { VERSION } from '../src/platform/version.ts'
import { type Noun, toggle, verb } from './cli/command.ts'

/** What docs/install.md says. */
const INSTALL = ['npm ci && npm pack', 'npm install --global ./svc-launch-cli-*.tgz']

const TEXT = `This is svc ${VERSION}. No release of it is in a package registry: what has its name there is not this project. Update your clone (git pull), and then:

${INSTALL.map((line) => `  ${line}`).join('\n')}`

export const upgradeNoun: Noun = {
  verb: verb({
    about: 'Say how to install a newer version',
    details:
      'svc asks no registry, because nothing there can be verified yet, and never replaces itself. With --check, `latest` and `newer` are null until there are releases whose signature svc can verify.',
    flags: { check: toggle('Say whether there is a newer release; not known yet') },
    examples: ['svc upgrade', 'svc upgrade --check --json'],
    run: async ({ check }) => ({
      data: { installed: VERSION, ...(check ? { latest: null, newer: null } : {}) },
      text: TEXT,
    }),
  }),
}
