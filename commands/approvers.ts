/** `svc approvers`: people who may approve acts of the platform wallet. */
import { paths } from '../src/api/paths.ts'
import { type Noun, required, text, verb } from './cli/command.ts'
import { listVerb } from './cli/reads.ts'

const approverPaths = paths.approvers
const ADDRESS = required(text('Address of a wallet of theirs', { placeholder: 'ADDRESS' }))

export const approversNoun: Noun = {
  aliases: { delete: 'remove', revoke: 'remove' },
  verbs: {
    add: verb({
      about: 'Add a person who may approve',
      details:
        'They sign their decisions with this wallet: `svc proposals approve` on their machine, or the page of a proposal on a phone. With --key, they cannot approve what this API key asks for.',
      calls: [approverPaths.add],
      args: { address: ADDRESS, name: required(text('Their name', { placeholder: 'NAME' })) },
      flags: { key: text('API key of the same person', { placeholder: 'ID', field: 'api_key_id' }) },
      examples: [
        'svc approvers add 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU Ada',
        'svc approvers add 9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM Bob --key key_7vQ2mXr9LdT4sYb1WnGe6KpA',
      ],
      async run({ address, name, key }, { client, ui }) {
        await ui.confirm(`Let ${name} (${address}) approve acts of the platform wallet?`)
        const { data } = await client.approvers.add({
          address,
          name,
          ...(key === undefined ? {} : { api_key_id: key }),
        })
        return { data, notes: ['See what waits for approvals: svc signer policy'] }
      },
    }),
    list: listVerb({
      about: 'List approvers, newest first',
      at: approverPaths.list,
      examples: ['svc approvers list', 'svc approvers list --all -o json'],
      columns: ['address', 'name', 'status', 'api_key_id', 'created_at'],
      call: (client, query) => client.approvers.list(query),
    }),
    remove: verb({
      about: 'Remove an approver; their approvals no longer count',
      calls: [approverPaths.remove],
      args: { address: ADDRESS },
      examples: [
        'svc approvers remove 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU',
        'svc approvers remove 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU --yes',
      ],
      async run({ address }, { client, ui }) {
        await ui.confirm(`Remove the approver ${address}? Proposals that are not executed need another approval.`)
        return { data: (await client.approvers.remove({ address })).data, text: `Removed ${address}.` }
      },
    }),
  },
}
