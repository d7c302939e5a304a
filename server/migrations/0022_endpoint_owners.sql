-- A worker owns an endpoint while it sends to it, so it need not write which deliveries it has taken.

alter table endpoints
  add column owner text, -- id of the worker
  add column owner_until timestamptz(3), -- a worker that died loses it then
  add column wanted_by text; -- a worker with nothing to do, to which the owner hands the endpoint over

-- The version before takes deliveries one by one, and does not know owners: it must leave these alone. Drop it in the
-- next version, with the columns claim_id, claim_kind and lease_until of deliveries.
create function leave_owned_endpoints() returns trigger language plpgsql as $$
begin
  if exists (select from endpoints where id = new.endpoint_id and owner is not null and owner_until > now()) then
    return null;
  end if;
  return new;
end
$$;
create trigger deliveries_leave_owned before update of claim_id on deliveries for each row
  when (old.claim_id is null and new.claim_id is not null) execute function leave_owned_endpoints();
