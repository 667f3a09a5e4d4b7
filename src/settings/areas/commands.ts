/** Settings of commands: the API that they call, the keypair, the output. */
import { define, FILE_PATH } from '../setting.ts'

export const commandsSettings = define({
  api: {
    kind: 'string',
    about: 'URL of the daemon that commands use (default: the running local one, otherwise none)',
    project: true,
  },
  'api-key-file': {
    kind: 'string',
    about: 'File (0600) with the bearer key for `api`',
    path: 'file',
    project: 'the key is read from that file and sent to the API',
  },
  keypair: {
    kind: 'string',
    pattern: FILE_PATH,
    about:
      'Wallet, keypair file (0600) or usb://ledger that commands sign with without -k; in a profile no relative path',
    path: 'file-or-name',
    project: 'it decides who signs',
  },
  squads: {
    kind: 'string',
    pattern: {
      is: /^[1-9A-HJ-NP-Za-km-z]{32,44}(?::\d{1,3})?$/,
      about: 'the address of a multisig or of its vault, or MULTISIG:VAULT with the number of a vault',
    },
    about: 'Multisig of Squads, or one of its vaults, for which commands propose, as with --squads',
    project: 'it decides who signs',
  },
  output: {
    kind: 'string',
    default: 'table',
    choices: ['table', 'json', 'plain'],
    about: 'How answers are printed: table, json or plain',
    project: true,
  },
})
