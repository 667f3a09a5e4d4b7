/** Settings of claim pages. */
import { define } from '../setting.ts'

export const claimPagesSettings = define({
  'claim-pages': {
    kind: 'boolean',
    default: false,
    about:
      'Serve claim pages to everyone without a key: the page of each stored airdrop with its sponsored claims, and of each stored raise',
    project: 'it opens this machine to everyone',
  },
  'claim-page-rpc-url': {
    kind: 'string',
    pattern: { is: /^https?:\/\/[^\s@]+$/, about: 'a URL like https://rpc.example.com, without a user name' },
    about: 'Node that the claim pages of this daemon use; its URL is public, so it is never taken from rpc-url',
    project: 'it is shown to everyone',
  },
  'claim-page-config': {
    kind: 'string',
    about:
      'JSON file with name, logo, colours, texts and nodes of the claim pages of this daemon (docs/claim-pages.md)',
    project: 'it names a file on this machine',
  },
  'claim-origins': {
    kind: 'list',
    pattern: { is: /^(?:\*|https?:\/\/[^/\s@?#]+)$/, about: 'origins like https://claim.example.com, or *' },
    about: 'Origins of claim pages on other hosts that may request sponsored claims, or * for any; none by default',
    project: 'it opens this machine to web pages',
  },
})
