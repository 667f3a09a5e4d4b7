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
    project: 'the key is read from that file and sent to the API',
  },
  keypair: {
    kind: 'string',
    pattern: FILE_PATH,
    about: 'Wallet or keypair file (0600) that commands sign with without -k; in a profile a name or an absolute path',
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
