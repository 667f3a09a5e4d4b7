/** Settings of what needs a person: when it counts, and where it is sent. */
import { define } from '../setting.ts'

export const attentionSettings = define({
  'attention-urls': {
    kind: 'receivers',
    private: true,
    about:
      'Where notices of what needs a person are sent: URLs separated by commas, with slack:, discord: or ntfy: before those, or JSON with the kinds of each (docs/attention.md)',
    project: 'it decides who learns about this service',
  },
  'attention-secret': {
    kind: 'string',
    secret: true,
    pattern: {
      is: /^whsec_(?:[A-Za-z0-9+/]{4}){6,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
      about: 'whsec_ and at least 18 bytes in base64',
    },
    about: 'Secret that signs notices to URLs without slack:, discord: or ntfy:',
    project: 'it is a secret',
  },
  'backup-days': {
    kind: 'integer',
    default: 7,
    min: 1,
    max: 365,
    about: 'Days after which the last `svc db backup` counts as old, if one was ever made',
    project: 'it decides when somebody is told',
    reload: true,
  },
})
