-- Set when the account was disabled: nothing lets its user in, and it does not count as an account of the instance.
alter table users add column disabled_at timestamptz(3);

-- Networks where an account signed in, as keyed hashes: failures elsewhere do not lock these out.
create table login_networks (
  user_id      text not null references users on delete cascade,
  network_hash bytea not null,
  last_used_at timestamptz(3) not null,
  primary key (user_id, network_hash)
);
create index login_networks_last_used on login_networks (last_used_at);
