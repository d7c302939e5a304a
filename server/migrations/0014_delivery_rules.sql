-- What delivery treats differently is stated in the row, so that its code names no type of event.

-- Other deliveries to the endpoint may wait for the first attempt of this one (blocked_by). The default is right for rows
-- of the version before: a true that is not needed costs one wake-up.
alter table deliveries add column may_block boolean not null default true;

-- Stays pending when the app it goes to is uninstalled.
alter table deliveries add column survives_revocation boolean not null default false;

-- By endpoint, so that the indexes of pending deliveries are used: the table may be large.
update deliveries set survives_revocation = true
where endpoint_id in (select id from endpoints where app_id is not null)
  and status = 'pending' and claim_id is null and type = 'OAuthApp';
update deliveries set survives_revocation = true
where endpoint_id in (select id from endpoints where app_id is not null)
  and claim_id is not null and status = 'pending' and type = 'OAuthApp';

-- Sets the column in rows that the version before inserts while it still runs. Drop it in the next version.
create function set_survives_revocation() returns trigger language plpgsql as $$
begin
  new.survives_revocation = true;
  return new;
end
$$;
create trigger deliveries_set_survives_revocation before insert on deliveries for each row
  when (new.type = 'OAuthApp' and not new.survives_revocation) execute function set_survives_revocation();
