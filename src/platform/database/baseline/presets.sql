CREATE TABLE preset (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
  account_id text NOT NULL REFERENCES account,
  slug text NOT NULL CHECK (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text NOT NULL,
  description text,
  active_version integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE preset IS 'Named chat configurations of an account';
CREATE UNIQUE INDEX preset_slug ON preset (account_id, slug);
-- No other index has this collation, as with `api_key_of_kind`.
CREATE INDEX preset_account ON preset (account_id, id COLLATE "C" DESC);

-- json keeps the order of members, which a model follows in the schema of its answer. jsonb does not.
CREATE TABLE preset_version (
  preset_id text NOT NULL REFERENCES preset ON DELETE CASCADE,
  version integer NOT NULL CHECK (version > 0),
  config json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (preset_id, version)
);
COMMENT ON TABLE preset_version IS 'The versions of presets, which never change';
ALTER TABLE preset ADD CONSTRAINT preset_active_version FOREIGN KEY (id, active_version)
  REFERENCES preset_version DEFERRABLE INITIALLY DEFERRED;

-- A version is deleted only with its preset. The preset's row is already gone when the cascade reaches the version.
CREATE FUNCTION preset_version_is_immutable() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF TG_OP = 'DELETE' THEN
    IF NOT EXISTS (SELECT FROM preset WHERE id = OLD.preset_id) THEN RETURN OLD; END IF;
  END IF;
  RAISE EXCEPTION 'versions of presets never change';
END $$;
CREATE TRIGGER preset_version_immutable BEFORE UPDATE OR DELETE ON preset_version
  FOR EACH ROW EXECUTE FUNCTION preset_version_is_immutable();
CREATE TRIGGER preset_version_kept BEFORE TRUNCATE ON preset_version
  FOR EACH STATEMENT EXECUTE FUNCTION preset_version_is_immutable();
